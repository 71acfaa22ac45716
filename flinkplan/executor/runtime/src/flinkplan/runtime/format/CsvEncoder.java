package flinkplan.runtime.format;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Base64;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;

/**
 * The format {@code csv}.
 *
 * <p>As in Flink, {@code write-bigdecimal-in-scientific-notation} changes nothing in files.
 */
final class CsvEncoder implements Encoder {

    private interface Writer extends Serializable {
        String write(Object value);
    }

    private final CsvSyntax syntax;
    private final Values.Getter[] getters;
    private final Writer[] writers;
    private final boolean[] numeric;

    CsvEncoder(FlinkType type, FormatOptions options) {
        syntax = new CsvSyntax(options);
        getters = Values.getters(type.children()).toArray(Values.Getter[]::new);
        writers = type.children().stream().map(this::writer).toArray(Writer[]::new);
        numeric = new boolean[writers.length];
        for (int i = 0; i < numeric.length; i++) {
            numeric[i] = isBare(type.child(i));
        }
    }

    @Override
    public void encode(byte kind, InternalRow row, OutputStream out) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < writers.length; i++) {
            if (i > 0) {
                line.append(syntax.delimiter);
            }
            if (row.isNullAt(i)) {
                line.append(nullText());
            } else if (numeric[i]) {
                line.append(writers[i].write(getters[i].get(row, i)));
            } else {
                syntax.write(writers[i].write(getters[i].get(row, i)), line);
            }
        }
        checkPairs(line.append('\n'));
        out.write(line.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Refuses halves of surrogate pairs, which UTF-8 has not. Source: Jackson's {@code UTF8Writer}. */
    private static void checkPairs(CharSequence line) throws IOException {
        for (int i = 0; i < line.length(); i++) {
            char sign = line.charAt(i);
            if (Character.isLowSurrogate(sign)) {
                throw new IOException(String.format("Unmatched second part of surrogate pair (0x%x)", (int) sign));
            }
            if (Character.isHighSurrogate(sign) && !Character.isLowSurrogate(line.charAt(++i))) {
                String pair = "Broken surrogate pair: first char 0x%x, second 0x%x; illegal combination";
                throw new IOException(String.format(pair, (int) sign, (int) line.charAt(i)));
            }
        }
    }

    private String nullText() {
        return syntax.nullLiteral == null ? "" : syntax.nullLiteral;
    }

    /** Numbers and booleans are never quoted. */
    private static boolean isBare(FlinkType type) {
        return switch (type.root()) {
            case "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL" -> true;
            default -> false;
        };
    }

    private Writer writer(FlinkType type) {
        return switch (type.root()) {
            case "DECIMAL" -> value -> JsonEncoder.shortest((BigDecimal) value).toString();
            case "DATE" -> value -> Times.formatDate((int) value);
            case "TIME" -> value -> Times.formatTime((int) value);
            case "TIMESTAMP" -> value -> Times.formatTimestamp((LocalDateTime) value, false, false);
            case "TIMESTAMP_LTZ" -> value -> Times.formatTimestamp((LocalDateTime) value, false, true);
            case "BINARY", "VARBINARY" -> value -> Base64.getEncoder().encodeToString((byte[]) value);
            case "ARRAY" -> {
                Values.Getter getter = Values.getter(type.child(0));
                Writer element = writer(type.child(0));
                yield value -> {
                    ArrayData array = (ArrayData) value;
                    StringBuilder joined = new StringBuilder();
                    for (int i = 0; i < array.numElements(); i++) {
                        append(joined, i, array, getter, element);
                    }
                    return joined.toString();
                };
            }
            case "ROW" -> {
                Values.Getter[] fields = Values.getters(type.children()).toArray(Values.Getter[]::new);
                Writer[] parts = type.children().stream().map(this::writer).toArray(Writer[]::new);
                yield value -> {
                    StringBuilder joined = new StringBuilder();
                    for (int i = 0; i < parts.length; i++) {
                        append(joined, i, (SpecializedGetters) value, fields[i], parts[i]);
                    }
                    return joined.toString();
                };
            }
            case "MAP", "MULTISET" -> throw new IllegalArgumentException("The csv format cannot write maps");
            default -> String::valueOf;
        };
    }

    private void append(
            StringBuilder joined, int index, SpecializedGetters values, Values.Getter getter, Writer writer) {
        if (index > 0) {
            joined.append(syntax.elementDelimiter);
        }
        joined.append(values.isNullAt(index) ? nullText() : writer.write(getter.get(values, index)));
    }
}

package flinkplan.runtime.format;

import flinkplan.runtime.Halves;
import java.io.IOException;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * The format {@code csv}.
 *
 * <p>As in Flink, an empty field is an empty text and no NULL, unless {@code null-literal} says so; an empty line is
 * such a field; and a line must have as many fields as are read of it, wherever these stand.
 */
final class CsvDecoder implements Decoder {

    private interface Reader extends Serializable {
        Object read(String text) throws IOException;
    }

    private final Reader[] readers;
    private final int[] targets;
    private final int width;
    private final CsvSyntax syntax;
    private final boolean ignoreErrors;
    private final boolean ignoreTrailing;
    private final boolean allowTrailingComma;
    private final boolean failOnMissing;
    private final boolean emptyIsNull;

    /** {@code type} is the table's whole row, {@code projection} the fields that are read of it, in order. */
    CsvDecoder(FlinkType type, List<Integer> projection, FormatOptions options) {
        syntax = new CsvSyntax(options);
        ignoreErrors = options.is("ignore-parse-errors");
        ignoreTrailing = options.is("ignore-trailing-unmappable");
        allowTrailingComma = Boolean.parseBoolean(options.get("allow-trailing-comma", "true"));
        failOnMissing = options.is("fail-on-missing-columns");
        emptyIsNull = options.is("empty-string-as-null");
        width = projection.size();
        readers = new Reader[type.size()];
        targets = new int[type.size()];
        for (int i = 0; i < width; i++) {
            int field = projection.get(i);
            readers[field] = reader(type.child(field));
            targets[field] = i;
        }
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        String line = Utf8.decode(buffer, from, to);
        if (syntax.isSkipped(line)) {
            return;
        }
        Object[] values = new Object[width];
        try {
            List<String> fields = fields(line);
            int expected = failOnMissing ? readers.length : ignoreErrors ? 0 : width;
            if (fields.size() < expected) {
                throw new IOException(
                        "Row length mismatch. " + expected + " fields expected but was " + fields.size() + ".");
            }
            for (int i = 0; i < fields.size(); i++) {
                if (readers[i] != null) {
                    values[targets[i]] = readers[i].read(fields.get(i));
                }
            }
        } catch (RuntimeException | IOException e) {
            if (ignoreErrors) {
                return;
            }
            throw new IOException("Failed to deserialize CSV row '" + Utf8.shown(buffer, from, to) + "'.", e);
        }
        rows.add(INSERT, values);
    }

    /** The fields of a line; behind the last column nothing but a comma may stand, unless what does is ignored. */
    private List<String> fields(String line) throws IOException {
        List<String> fields = syntax.split(line);
        int width = readers.length;
        if (fields.size() <= width) {
            return fields;
        }
        boolean trailingComma = allowTrailingComma && fields.size() == width + 1 && fields.get(width).isEmpty();
        if (!trailingComma && !ignoreTrailing) {
            throw new IOException("Too many entries: expected at most " + width);
        }
        return fields.subList(0, width);
    }

    @Override
    public Records records() {
        return syntax.records();
    }

    private Reader reader(FlinkType type) {
        Reader notNull = notNullReader(type);
        return text -> {
            if (isAbsent(type, text)) {
                return null;
            }
            try {
                return notNull.read(text);
            } catch (RuntimeException | IOException e) {
                if (ignoreErrors) {
                    return null;
                }
                throw e;
            }
        };
    }

    /** Whether a field stands for NULL; of several values in one, an array never does, and a row where it is empty. */
    private boolean isAbsent(FlinkType type, String text) {
        return switch (type.root()) {
            case "ARRAY" -> false;
            case "ROW" -> text.isEmpty();
            default -> syntax.isNull(text) || (emptyIsNull && text.isEmpty());
        };
    }

    private Reader notNullReader(FlinkType type) {
        boolean nanos = type.hasNanos();
        return switch (type.root()) {
            case "CHAR", "VARCHAR" -> Halves::encode;
            case "BOOLEAN" -> text -> Boolean.parseBoolean(text.trim());
            case "TINYINT" -> text -> Byte.parseByte(text.trim());
            case "SMALLINT" -> text -> Short.parseShort(text.trim());
            case "INT" -> text -> Integer.parseInt(text.trim());
            case "BIGINT" -> text -> Long.parseLong(text.trim());
            case "FLOAT" -> text -> Float.parseFloat(text.trim());
            case "DOUBLE" -> text -> Double.parseDouble(text.trim());
            case "DECIMAL" -> text -> JsonValues.toDecimal(new BigDecimal(text.trim()), type.precision(), type.scale());
            case "DATE" -> text -> Times.parseDate(text);
            case "TIME" -> text -> Times.parseIsoTime(text);
            case "TIMESTAMP" -> text -> Times.parseTimestamp(text.trim(), false, false, nanos);
            case "TIMESTAMP_LTZ" -> text -> Times.parseTimestamp(text.trim(), false, true, nanos);
            case "BINARY", "VARBINARY" -> text -> Base64.getDecoder().decode(text);
            case "ARRAY" -> {
                Reader element = reader(type.child(0));
                yield text -> {
                    List<Object> values = new ArrayList<>();
                    for (String part : syntax.elements(text)) {
                        values.add(element.read(part));
                    }
                    return new GenericArrayData(values.toArray());
                };
            }
            case "ROW" -> {
                Reader[] fields = type.children().stream().map(this::reader).toArray(Reader[]::new);
                yield text -> {
                    List<String> parts = syntax.elements(text);
                    if (parts.size() != fields.length) {
                        throw new IOException(
                                "Row length mismatch. " + fields.length + " fields expected but was "
                                        + parts.size() + ".");
                    }
                    Object[] values = new Object[fields.length];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = fields[i].read(parts.get(i));
                    }
                    return new GenericInternalRow(values);
                };
            }
            default -> throw new IllegalArgumentException("The csv format cannot read the type " + type.root());
        };
    }
}

package flinkplan.runtime.format;

import flinkplan.runtime.functions.LoneSurrogates;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.IntPredicate;
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

        /** The same of a text of ASCII. */
        default Object read(byte[] buffer, int from, int to) throws IOException {
            return read(Ascii.text(buffer, from, to));
        }
    }

    /** Reads texts of an everyday shape where they stand, and null of others. */
    private interface Quick extends Serializable {
        Object read(byte[] buffer, int from, int to);
    }

    private record QuickReader(Quick quick, Reader other) implements Reader {
        @Override
        public Object read(String text) throws IOException {
            return other.read(text);
        }

        @Override
        public Object read(byte[] buffer, int from, int to) throws IOException {
            Object value = quick.read(buffer, from, to);
            return value == null ? other.read(buffer, from, to) : value;
        }
    }

    /**
     * Reads NULL where a field stands for it: of several values in one, an array never does, and a row where it is
     * empty.
     *
     * @param syntax what says which other text is NULL; null where none is
     */
    private record NullableReader(boolean emptyIsNull, CsvSyntax syntax, Reader notNull) implements Reader {
        @Override
        public Object read(String text) throws IOException {
            boolean isNull = emptyIsNull && text.isEmpty() || syntax != null && syntax.isNull(text);
            return isNull ? null : notNull.read(text);
        }

        @Override
        public Object read(byte[] buffer, int from, int to) throws IOException {
            boolean isNull = emptyIsNull && from == to || syntax != null && syntax.isNull(buffer, from, to);
            return isNull ? null : notNull.read(buffer, from, to);
        }
    }

    private final Reader[] readers;
    private final int[] targets;
    private final int width;
    private final CsvSyntax syntax;
    private final CsvFields everyday;
    private final boolean ignoreErrors;
    private final boolean ignoreTrailing;
    private final boolean allowTrailingComma;
    private final boolean failOnMissing;
    private final boolean emptyIsNull;

    /** {@code type} is the table's whole row, {@code projection} the fields that are read of it, in order. */
    CsvDecoder(FlinkType type, List<Integer> projection, FormatOptions options) {
        syntax = new CsvSyntax(options);
        everyday = syntax.fields();
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
        Object[] values;
        try {
            boolean isEveryday = everyday != null && everyday.find(buffer, from, to);
            values = isEveryday ? everydayValues(buffer) : values(Utf8.decode(buffer, from, to));
        } catch (CharConversionException e) {
            throw e;
        } catch (RuntimeException | IOException e) {
            if (ignoreErrors) {
                return;
            }
            throw new IOException("Failed to deserialize CSV row '" + Utf8.shown(buffer, from, to) + "'.", e);
        }
        if (values != null) {
            rows.add(INSERT, values);
        }
    }

    private Object[] everydayValues(byte[] buffer) throws IOException {
        int count = checked(everyday.count(), everyday::isEmpty);
        Object[] values = new Object[width];
        for (int i = 0; i < count; i++) {
            if (readers[i] != null) {
                values[targets[i]] = readers[i].read(buffer, everyday.start(i), everyday.end(i));
            }
        }
        return values;
    }

    /** The values of a line; null where it is skipped. */
    private Object[] values(String line) throws IOException {
        if (syntax.isSkipped(line)) {
            return null;
        }
        List<String> fields = syntax.split(line);
        int count = checked(fields.size(), i -> fields.get(i).isEmpty());
        Object[] values = new Object[width];
        for (int i = 0; i < count; i++) {
            if (readers[i] != null) {
                values[targets[i]] = readers[i].read(fields.get(i));
            }
        }
        return values;
    }

    /**
     * How many of a line's fields are the table's.
     *
     * <p>Behind the last column nothing but a comma may stand, unless what does is ignored.
     */
    private int checked(int count, IntPredicate isEmpty) throws IOException {
        int columns = readers.length;
        int expected = failOnMissing ? columns : ignoreErrors ? 0 : width;
        if (count < expected) {
            throw new IOException("Row length mismatch. " + expected + " fields expected but was " + count + ".");
        }
        boolean trailingComma = allowTrailingComma && count == columns + 1 && isEmpty.test(columns);
        if (count > columns && !trailingComma && !ignoreTrailing) {
            throw new IOException("Too many entries: expected at most " + columns);
        }
        return Math.min(count, columns);
    }

    @Override
    public Records records() {
        return syntax.records();
    }

    private Reader reader(FlinkType type) {
        boolean isRow = type.root().equals("ROW");
        boolean isArray = type.root().equals("ARRAY");
        Reader notNull = notNullReader(type);
        Reader reader =
                isArray ? notNull : new NullableReader(isRow || emptyIsNull, isRow ? null : syntax, notNull);
        return !ignoreErrors ? reader : text -> {
            try {
                return reader.read(text);
            } catch (RuntimeException | IOException e) {
                return null;
            }
        };
    }

    private Reader notNullReader(FlinkType type) {
        boolean nanos = type.hasNanos();
        return switch (type.root()) {
            case "CHAR", "VARCHAR" -> new QuickReader(Ascii::bytes, LoneSurrogates::encode);
            case "BOOLEAN" -> text -> Boolean.parseBoolean(text.trim());
            case "TINYINT" -> text -> Byte.parseByte(text.trim());
            case "SMALLINT" -> text -> Short.parseShort(text.trim());
            case "INT" -> new QuickReader(Ascii::integer, text -> Integer.parseInt(text.trim()));
            case "BIGINT" -> new QuickReader(Ascii::bigInt, text -> Long.parseLong(text.trim()));
            case "FLOAT" -> text -> Float.parseFloat(text.trim());
            case "DOUBLE" -> text -> Double.parseDouble(text.trim());
            case "DECIMAL" -> {
                int precision = type.precision(), scale = type.scale();
                yield new QuickReader(
                        (buffer, from, to) -> Ascii.decimal(buffer, from, to, precision, scale),
                        text -> JsonValues.toDecimal(new BigDecimal(text), precision, scale));
            }
            case "DATE" -> new QuickReader(Ascii::date, Times::parseDate);
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
                    if (parts.size() < fields.length && !ignoreErrors) {
                        throw new IOException(
                                "Row length mismatch. " + fields.length + " fields expected but was "
                                        + parts.size() + ".");
                    }
                    Object[] values = new Object[fields.length];
                    for (int i = 0; i < Math.min(values.length, parts.size()); i++) {
                        values[i] = fields[i].read(parts.get(i));
                    }
                    return new GenericInternalRow(values);
                };
            }
            default -> throw new IllegalArgumentException("The csv format cannot read the type " + type.root());
        };
    }
}

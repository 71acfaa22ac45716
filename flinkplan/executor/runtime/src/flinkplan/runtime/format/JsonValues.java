package flinkplan.runtime.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Converters from JSON tokens to Spark's inner values, as lenient and as strict as Flink's JSON format. */
final class JsonValues {

    /** Reads the value at the parser's token, and leaves the parser at the value's last token. */
    interface Reader extends Serializable {
        Object read(JsonParser parser) throws IOException;
    }

    private final boolean failOnMissingField;
    private final boolean ignoreErrors;
    private final boolean iso;

    JsonValues(boolean failOnMissingField, boolean ignoreErrors, boolean iso) {
        this.failOnMissingField = failOnMissingField;
        this.ignoreErrors = ignoreErrors;
        this.iso = iso;
    }

    /** The reader of values of {@code type}; null is null, and so is what cannot be read where errors are ignored. */
    Reader reader(FlinkType type) {
        Reader notNull = type.isUnread() ? checker(type) : notNullReader(type);
        boolean lenient = ignoreErrors;
        return parser -> {
            if (parser.currentToken() == JsonToken.VALUE_NULL) {
                return null;
            }
            if (!lenient) {
                return notNull.read(parser);
            }
            int depth = parser.getParsingContext().getNestingDepth();
            try {
                return notNull.read(parser);
            } catch (RuntimeException | com.fasterxml.jackson.core.exc.InputCoercionException e) {
                leave(parser, depth);
                return null;
            }
        };
    }

    /** Moves out of the structures entered since the nesting depth was {@code depth}. */
    private static void leave(JsonParser parser, int depth) throws IOException {
        if (parser.currentToken().isStructStart() && parser.getParsingContext().getNestingDepth() == depth) {
            parser.skipChildren();
        }
        while (parser.getParsingContext().getNestingDepth() > depth) {
            parser.nextToken();
        }
    }

    /** The reader of values that nobody looks at: it makes none, but refuses what other readers refuse. */
    private Reader checker(FlinkType type) {
        if (type.root().equals("CHAR") || type.root().equals("VARCHAR")) {
            return parser -> {
                parser.skipChildren();
                return null;
            };
        }
        Reader read = notNullReader(type);
        return parser -> {
            read.read(parser);
            return null;
        };
    }

    private Reader notNullReader(FlinkType type) {
        boolean iso = this.iso;
        boolean nanos = type.hasNanos();
        return switch (type.root()) {
            case "NULL" -> parser -> null;
            case "BOOLEAN" -> JsonValues::bool;
            case "TINYINT" -> JsonValues::tinyInt;
            case "SMALLINT" -> JsonValues::smallInt;
            case "INT" -> JsonValues::integer;
            case "BIGINT" -> JsonValues::bigInt;
            case "FLOAT" -> parser -> isFloat(parser) ? parser.getFloatValue() : Float.parseFloat(text(parser));
            case "DOUBLE" -> parser -> isFloat(parser) ? parser.getDoubleValue() : Double.parseDouble(text(parser));
            case "DECIMAL" -> parser -> decimal(parser, type.precision(), type.scale());
            case "CHAR", "VARCHAR" -> JsonValues::string;
            case "BINARY", "VARBINARY" -> parser -> Base64.getDecoder().decode(parser.getText());
            case "DATE" -> parser -> Times.parseDate(parser.getText());
            case "TIME" -> parser -> Times.parseTime(parser.getText());
            case "TIMESTAMP" -> parser -> Times.parseTimestamp(parser.getText(), iso, false, nanos);
            case "TIMESTAMP_LTZ" -> parser -> Times.parseTimestamp(parser.getText(), iso, true, nanos);
            case "ARRAY" -> array(type);
            case "MAP" -> map(type.child(0), reader(type.child(1)));
            case "MULTISET" -> map(type.child(0), JsonValues::integer);
            case "ROW" -> row(type);
            default -> interval(type);
        };
    }

    private static Reader interval(FlinkType type) {
        if (!type.root().startsWith("INTERVAL")) {
            throw new IllegalArgumentException("The JSON format cannot read values of the type " + type.root());
        }
        return type.root().contains("YEAR") || type.root().contains("MONTH") ? JsonValues::integer : JsonValues::bigInt;
    }

    private static String text(JsonParser parser) throws IOException {
        return parser.getText().trim();
    }

    private static boolean isFloat(JsonParser parser) {
        return parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT;
    }

    private static boolean isInt(JsonParser parser) {
        return parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
    }

    private static Object bool(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> Boolean.parseBoolean(text(parser));
        };
    }

    private static Object tinyInt(JsonParser parser) throws IOException {
        if (!isInt(parser)) {
            return Byte.parseByte(text(parser));
        }
        int value = parser.getIntValue();
        if (value != (byte) value) {
            throw new IllegalArgumentException("Numeric value (" + value + ") out of range of TINYINT.");
        }
        return (byte) value;
    }

    private static Object smallInt(JsonParser parser) throws IOException {
        return isInt(parser) ? parser.getShortValue() : Short.parseShort(text(parser));
    }

    private static Object integer(JsonParser parser) throws IOException {
        return isInt(parser) || isFloat(parser) ? parser.getIntValue() : Integer.parseInt(text(parser));
    }

    private static Object bigInt(JsonParser parser) throws IOException {
        return isInt(parser) || isFloat(parser) ? parser.getLongValue() : Long.parseLong(text(parser));
    }

    private static Object decimal(JsonParser parser, int precision, int scale) throws IOException {
        boolean isNumber = isInt(parser) || isFloat(parser);
        return toDecimal(isNumber ? parser.getDecimalValue() : new BigDecimal(text(parser)), precision, scale);
    }

    /** The value rounded to {@code scale}, or null where it has more digits than {@code precision}. */
    static Decimal toDecimal(BigDecimal value, int precision, int scale) {
        BigDecimal rounded = value.setScale(scale, RoundingMode.HALF_UP);
        return rounded.precision() > precision ? null : Decimal.apply(rounded, precision, scale);
    }

    private static Object string(JsonParser parser) throws IOException {
        boolean nested = parser.currentToken().isStructStart();
        return UTF8String.fromString(nested ? parser.readValueAsTree().toString() : parser.getText());
    }

    private Reader array(FlinkType type) {
        Reader element = reader(type.child(0));
        return parser -> {
            require(parser, JsonToken.START_ARRAY);
            List<Object> values = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                values.add(element.read(parser));
            }
            return new GenericArrayData(values.toArray());
        };
    }

    private static Reader map(FlinkType key, Reader value) {
        if (!key.root().equals("CHAR") && !key.root().equals("VARCHAR")) {
            throw new IllegalArgumentException("JSON format doesn't support non-string as key type of map.");
        }
        return parser -> {
            require(parser, JsonToken.START_OBJECT);
            HashMap<UTF8String, Object> entries = new HashMap<>();
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                UTF8String name = UTF8String.fromString(parser.currentName());
                parser.nextToken();
                entries.put(name, value.read(parser));
            }
            return Values.map(entries);
        };
    }

    private Reader row(FlinkType type) {
        Fields fields = fields(type);
        return parser -> new GenericInternalRow(fields.read(parser));
    }

    /** The reader of an object's fields. */
    Fields fields(FlinkType type) {
        return new Fields(type);
    }

    /** Reads the fields of an object by their names; once every field was seen, the rest is skipped. */
    final class Fields implements Serializable {
        private final Reader[] readers;
        private final HashMap<String, Integer> indexes = new HashMap<>();
        private final boolean strict = failOnMissingField;

        private Fields(FlinkType type) {
            readers = type.children().stream().map(JsonValues.this::reader).toArray(Reader[]::new);
            for (int i = 0; i < readers.length; i++) {
                indexes.put(type.names().get(i), i);
            }
        }

        Object[] read(JsonParser parser) throws IOException {
            require(parser, JsonToken.START_OBJECT);
            Object[] values = new Object[readers.length];
            int seen = 0;
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                Integer index = seen < readers.length ? indexes.get(name) : null;
                parser.nextToken();
                if (index == null) {
                    parser.skipChildren();
                    continue;
                }
                try {
                    values[index] = readers[index].read(parser);
                } catch (RuntimeException | IOException e) {
                    throw new IOException("Fail to deserialize at field: " + name + ".", e);
                }
                seen++;
            }
            if (strict && seen < readers.length) {
                throw new IOException("Some field is missing in the JSON data.");
            }
            return values;
        }
    }

    private static void require(JsonParser parser, JsonToken token) {
        if (parser.currentToken() != token) {
            throw new IllegalArgumentException("Expected " + token + " but found " + parser.currentToken());
        }
    }
}

package flinkplan.runtime.cdc;

import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.Times;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Values of the texts that PostgreSQL writes with DateStyle ISO in the time zone UTC. */
final class TextValues {
    private static final int MICROSECOND_DIGITS = 6;
    private static final String HEX = "\\x";

    private TextValues() {}

    /** The value as Spark holds it; throws where it is none of the type. */
    static Object of(byte[] bytes, FlinkType type) {
        return switch (type.root()) {
            case "CHAR", "VARCHAR" -> UTF8String.fromBytes(bytes);
            default -> of(new String(bytes, StandardCharsets.UTF_8), type);
        };
    }

    private static Object of(String text, FlinkType type) {
        return switch (type.root()) {
            case "BOOLEAN" -> bool(text);
            case "TINYINT" -> Byte.parseByte(text);
            case "SMALLINT" -> Short.parseShort(text);
            case "INT" -> Integer.parseInt(text);
            case "BIGINT" -> Long.parseLong(text);
            case "FLOAT" -> Float.parseFloat(text);
            case "DOUBLE" -> Double.parseDouble(text);
            case "DECIMAL" -> decimal(text, type);
            case "CHAR", "VARCHAR" -> UTF8String.fromString(text);
            case "BINARY", "VARBINARY" -> bytes(text);
            case "DATE" -> Times.parseDate(text);
            case "TIME" -> Times.parseTime(text);
            case "TIMESTAMP" -> timestamp(text, type);
            case "TIMESTAMP_LTZ" -> timestamp(inUtc(text), type);
            case "ARRAY" -> new Elements(text, type).array();
            default -> throw new IllegalArgumentException("no column is of this type");
        };
    }

    private static boolean bool(String text) {
        return switch (text) {
            case "t", "1" -> true;
            case "f", "0" -> false;
            default -> throw new IllegalArgumentException(text);
        };
    }

    private static Decimal decimal(String text, FlinkType type) {
        BigDecimal value;
        try {
            value = new BigDecimal(text).setScale(type.scale(), RoundingMode.HALF_UP);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(text);
        }
        if (value.precision() > type.precision()) {
            throw new IllegalArgumentException(text + " has more than " + type.precision() + " digits");
        }
        return Decimal.apply(value, type.precision(), type.scale());
    }

    private static byte[] bytes(String text) {
        if (!text.startsWith(HEX)) {
            throw new IllegalArgumentException(text);
        }
        return HexFormat.of().parseHex(text, HEX.length(), text.length());
    }

    private static String inUtc(String text) {
        if (!text.endsWith("+00")) {
            throw new IllegalArgumentException(text);
        }
        return text.substring(0, text.length() - 3);
    }

    /** A time, cut to the digits of the type. */
    private static Object timestamp(String text, FlinkType type) {
        Object value = Times.parseTimestamp(text, false, false, type.hasNanos());
        if (type.hasNanos() || type.precision() == MICROSECOND_DIGITS) {
            return value;
        }
        long unit = (long) Math.pow(10, MICROSECOND_DIGITS - type.precision());
        return Math.floorDiv((long) value, unit) * unit;
    }

    /** Reads the text of an array, as in <code>{1,NULL,"a b"}</code>. */
    private static final class Elements {
        private final String text;
        private final FlinkType type;
        private int at;

        Elements(String text, FlinkType type) {
            this.text = text;
            this.type = type;
            at = text.indexOf('{'); // bounds other than from 1 on stand before it
            if (at < 0) {
                throw new IllegalArgumentException(text);
            }
        }

        GenericArrayData array() {
            return array(type.child(0));
        }

        private GenericArrayData array(FlinkType element) {
            List<Object> elements = new ArrayList<>();
            at++;
            while (text.charAt(at) != '}') {
                boolean isNested = text.charAt(at) == '{';
                if (isNested != element.root().equals("ARRAY")) {
                    throw new IllegalArgumentException(text);
                }
                elements.add(isNested ? array(element.child(0)) : element(element));
                if (text.charAt(at) == ',') {
                    at++;
                }
            }
            at++;
            return new GenericArrayData(elements.toArray());
        }

        private Object element(FlinkType element) {
            StringBuilder read = new StringBuilder();
            boolean isQuoted = text.charAt(at) == '"';
            if (isQuoted) {
                at++;
            }
            for (char c; isQuoted ? (c = text.charAt(at)) != '"' : (c = text.charAt(at)) != ',' && c != '}'; at++) {
                read.append(c == '\\' ? text.charAt(++at) : c);
            }
            if (isQuoted) {
                at++;
            }
            String value = read.toString();
            return !isQuoted && value.equals("NULL") ? null : of(value, element);
        }
    }
}

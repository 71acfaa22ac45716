package flinkplan.runtime.format;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** The values of partition columns between rows and the names of directories. */
public final class PartitionValues {
    private PartitionValues() {}

    /** The value of {@code text} in the path. */
    public static Object parse(String text, FlinkType type) throws IOException {
        return switch (type.root()) {
            case "CHAR", "VARCHAR" -> UTF8String.fromString(text);
            case "BOOLEAN" -> Boolean.parseBoolean(text);
            case "TINYINT" -> Byte.parseByte(text);
            case "SMALLINT" -> Short.parseShort(text);
            case "INT" -> Integer.parseInt(text);
            case "BIGINT" -> Long.parseLong(text);
            case "FLOAT" -> Float.parseFloat(text);
            case "DOUBLE" -> Double.parseDouble(text);
            case "DECIMAL" -> JsonValues.toDecimal(new BigDecimal(text), type.precision(), type.scale());
            case "DATE" -> (int) LocalDate.parse(text).toEpochDay();
            case "TIME" -> (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
            case "TIMESTAMP" -> Times.value(LocalDateTime.parse(text.replace(' ', 'T')), type.hasNanos());
            default -> throw new IOException("The type " + type.root() + " cannot be a partition column's.");
        };
    }

    /** The text of the value at {@code index}, or null. */
    public static String format(InternalRow row, int index, FlinkType type) {
        if (row.isNullAt(index)) {
            return null;
        }
        Object value = Values.getter(type).get(row, index);
        return switch (type.root()) {
            case "DATE" -> Times.formatDate((int) value);
            case "TIME" -> Times.formatTime((int) value);
            default -> value.toString();
        };
    }
}

package flinkplan.runtime.functions;

import java.util.IllegalFormatException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Values as text, where Spark writes them otherwise than Flink. */
public final class Texts {
    private static final Map<UTF8String, StructType> TYPES = new ConcurrentHashMap<>();

    private Texts() {}

    /**
     * Values in the places that a format has for them; null where it has none for their types.
     *
     * @param types the JSON of the values' Spark type
     */
    public static UTF8String format(UTF8String format, InternalRow values, UTF8String types) {
        StructType row = TYPES.computeIfAbsent(types, json -> (StructType) DataType.fromJson(json.toString()));
        Object[] arguments = new Object[row.length()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = values.isNullAt(i) ? null : values.get(i, row.apply(i).dataType());
        }
        try {
            return UTF8String.fromString(String.format(Locale.US, format.toString(), arguments));
        } catch (IllegalFormatException e) {
            return null;
        }
    }

    /** All digits of the scale, never an exponent. */
    public static UTF8String ofDecimal(Decimal value) {
        return UTF8String.fromString(value.toJavaBigDecimal().toPlainString());
    }

    /** {@code +1 02:03:04.005}. */
    public static UTF8String ofDayTime(long millis) {
        long m = Math.abs(millis);
        return UTF8String.fromString(
                String.format(
                        "%s%d %02d:%02d:%02d.%03d",
                        millis < 0 ? "-" : "+",
                        m / 86_400_000,
                        m / 3_600_000 % 24,
                        m / 60_000 % 60,
                        m / 1000 % 60,
                        m % 1000));
    }

    /** {@code +1-02}. */
    public static UTF8String ofYearMonth(int months) {
        int m = Math.abs(months);
        return UTF8String.fromString(String.format("%s%d-%02d", months < 0 ? "-" : "+", m / 12, m % 12));
    }
}

package flinkplan.runtime.functions;

import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * HASH_CODE: the hashes of values in Flink, by which it divides the values of a DISTINCT aggregation.
 *
 * <p>Source: Flink's {@code CodeGenUtils.hashCodeForType} and {@code SqlFunctionUtils}, and the classes of its values.
 */
public final class Hashes {
    private static final int SEED = 42;
    private static final int MICROS = 1000;

    private Hashes() {}

    public static int ofBoolean(boolean value) {
        return Boolean.hashCode(value);
    }

    public static int ofLong(long value) {
        return Long.hashCode(value);
    }

    public static int ofFloat(float value) {
        return Float.hashCode(value);
    }

    public static int ofDouble(double value) {
        return Double.hashCode(value);
    }

    public static int ofText(UTF8String value) {
        return Math.abs(value.toString().hashCode());
    }

    public static int ofBytes(byte[] value) {
        return Murmur3_x86_32.hashUnsafeBytes(value, Platform.BYTE_ARRAY_OFFSET, value.length, SEED);
    }

    public static int ofDecimal(Decimal value, int scale) {
        return value.toJavaBigDecimal().setScale(scale).hashCode();
    }

    /**
     * @param micros since the epoch
     * @param nanos behind them
     */
    public static int ofTimestamp(long micros, int nanos) {
        long rest = Math.floorMod(micros, MICROS);
        return 31 * Long.hashCode(Math.floorDiv(micros, MICROS)) + (int) rest * MICROS + nanos;
    }
}

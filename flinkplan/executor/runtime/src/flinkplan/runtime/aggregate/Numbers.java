package flinkplan.runtime.aggregate;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/** Flink's number conversions. */
final class Numbers {
    private static final MathContext DIVISION = new MathContext(38, RoundingMode.HALF_UP);

    private Numbers() {}

    /** The low bits of a number, boxed as an integer type holds them. */
    static Object integer(long value, DataType type) {
        if (type.equals(DataTypes.LongType)) {
            return value;
        }
        if (type.equals(DataTypes.IntegerType)) {
            return (int) value;
        }
        return type.equals(DataTypes.ShortType) ? (Object) (short) value : (Object) (byte) value;
    }

    /** A decimal of a type, rounded half up; null if it does not fit. */
    static Decimal decimal(BigDecimal value, DecimalType type) {
        BigDecimal scaled = value.setScale(type.scale(), RoundingMode.HALF_UP);
        return scaled.precision() > type.precision()
                ? null
                : Decimal.apply(scaled, type.precision(), type.scale());
    }

    /** A total divided by a count, in the type of an average: integers truncate, decimals round half up. */
    static Object divide(Object total, long count, DataType type) {
        if (type instanceof DecimalType decimal) {
            BigDecimal sum = ((Decimal) total).toJavaBigDecimal();
            return decimal(sum.divide(BigDecimal.valueOf(count), DIVISION), decimal);
        }
        if (type.equals(DataTypes.DoubleType)) {
            return ((Number) total).doubleValue() / count;
        }
        return type.equals(DataTypes.FloatType)
                ? (Object) (float) (((Number) total).doubleValue() / count)
                : integer(((Number) total).longValue() / count, type);
    }
}

package flinkplan.runtime.aggregate;

import java.io.Serializable;
import java.math.BigDecimal;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/** A running total in the arithmetic of one family of number types. */
abstract class Total implements Serializable {
    /**
     * The total that sums values of {@code input} up to a {@code sum}.
     *
     * @param restarts whether a decimal total that has overflowed begins anew with the next value
     */
    static Total of(DataType input, DataType sum, boolean restarts) {
        if (sum instanceof DecimalType decimal) {
            return new OfDecimals((DecimalType) input, decimal, restarts);
        }
        return sum.equals(DataTypes.FloatType) || sum.equals(DataTypes.DoubleType)
                ? new OfFloats(input, sum)
                : new OfIntegers(input, sum);
    }

    abstract void set(Object value);

    abstract void add(InternalRow row, int column);

    abstract void subtract(InternalRow row, int column);

    /** Whether the order in which values are added makes no difference. */
    abstract boolean isExact();

    /** Adds a total that stands in the first column. */
    abstract void merge(InternalRow saved);

    /** The total in its type; null once a decimal has overflowed. */
    abstract Object get();

    abstract Object zero();

    /** Integers wrap around, as Java's do. */
    private static final class OfIntegers extends Total {
        private final DataType input;
        private final DataType sum;
        private long total;

        OfIntegers(DataType input, DataType sum) {
            this.input = input;
            this.sum = sum;
        }

        @Override
        void set(Object value) {
            total = ((Number) value).longValue();
        }

        private long read(InternalRow row, int column) {
            if (input.equals(DataTypes.LongType)) {
                return row.getLong(column);
            }
            return input.equals(DataTypes.IntegerType)
                    ? row.getInt(column)
                    : ((Number) row.get(column, input)).longValue();
        }

        @Override
        void add(InternalRow row, int column) {
            total += read(row, column);
        }

        @Override
        void subtract(InternalRow row, int column) {
            total -= read(row, column);
        }

        @Override
        boolean isExact() {
            return true;
        }

        @Override
        void merge(InternalRow saved) {
            total += ((Number) saved.get(0, sum)).longValue();
        }

        @Override
        Object get() {
            return Numbers.integer(total, sum);
        }

        @Override
        Object zero() {
            return Numbers.integer(0, sum);
        }
    }

    private static final class OfFloats extends Total {
        private final DataType input;
        private final boolean single;
        private double total;

        OfFloats(DataType input, DataType sum) {
            this.input = input;
            this.single = sum.equals(DataTypes.FloatType);
        }

        @Override
        void set(Object value) {
            total = ((Number) value).doubleValue();
        }

        private void change(double by) {
            total = single ? (float) total + (float) by : total + by;
        }

        private double read(InternalRow row, int column) {
            return ((Number) row.get(column, input)).doubleValue();
        }

        @Override
        void add(InternalRow row, int column) {
            change(read(row, column));
        }

        @Override
        void subtract(InternalRow row, int column) {
            change(-read(row, column));
        }

        @Override
        boolean isExact() {
            return false;
        }

        @Override
        void merge(InternalRow saved) {
            change(((Number) saved.get(0, single ? DataTypes.FloatType : DataTypes.DoubleType)).doubleValue());
        }

        @Override
        Object get() {
            if (single) {
                return (float) total;
            }
            return total;
        }

        @Override
        Object zero() {
            if (single) {
                return 0f;
            }
            return 0d;
        }
    }

    /** A decimal total that overflows becomes NULL. */
    private static final class OfDecimals extends Total {
        /** So many more digits than a value's cannot overflow by adding values. */
        private static final int HEADROOM = 12;

        private final DecimalType input;
        private final DecimalType sum;
        private final boolean restarts;
        private Decimal total;

        OfDecimals(DecimalType input, DecimalType sum, boolean restarts) {
            this.input = input;
            this.sum = sum;
            this.restarts = restarts;
        }

        @Override
        void set(Object value) {
            total = (Decimal) value;
        }

        private void change(BigDecimal by) {
            if (total == null && !restarts) {
                return;
            }
            total = Numbers.decimal(total == null ? by : total.toJavaBigDecimal().add(by), sum);
        }

        /** Spark's Decimal would negate and round to 34 digits; what Java's does is exact. */
        private BigDecimal read(InternalRow row, int column) {
            return row.getDecimal(column, input.precision(), input.scale()).toJavaBigDecimal();
        }

        @Override
        void add(InternalRow row, int column) {
            change(read(row, column));
        }

        @Override
        void subtract(InternalRow row, int column) {
            change(read(row, column).negate());
        }

        @Override
        boolean isExact() {
            return sum.precision() - sum.scale() - (input.precision() - input.scale()) >= HEADROOM;
        }

        @Override
        void merge(InternalRow saved) {
            if (!saved.isNullAt(0)) {
                change(saved.getDecimal(0, sum.precision(), sum.scale()).toJavaBigDecimal());
            } else if (!restarts) {
                total = null;
            }
        }

        @Override
        Object get() {
            return total;
        }

        @Override
        Object zero() {
            return Decimal.apply(BigDecimal.ZERO, sum.precision(), sum.scale());
        }
    }
}

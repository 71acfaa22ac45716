package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;

/** $WELFORD_M2: the sum of the squared distances from the mean, from which variances are computed. */
public final class Welford extends Accumulator {
    private final int column;
    private final DataType type;
    private transient long count;
    private transient double mean;
    private transient double m2;

    public Welford(int column, DataType type) {
        this.column = column;
        this.type = type;
    }

    @Override
    StructType schema() {
        return new StructType()
                .add("count", DataTypes.LongType)
                .add("mean", DataTypes.DoubleType)
                .add("m2", DataTypes.DoubleType);
    }

    @Override
    void reset() {
        count = 0;
        mean = 0;
        m2 = 0;
    }

    @Override
    void load(InternalRow saved) {
        count = saved.getLong(0);
        mean = saved.getDouble(1);
        m2 = saved.getDouble(2);
    }

    @Override
    InternalRow save() {
        return Rows.of(count, mean, m2);
    }

    private double read(InternalRow row) {
        Object value = row.get(column, type);
        return value instanceof Decimal decimal ? decimal.toDouble() : ((Number) value).doubleValue();
    }

    @Override
    void add(InternalRow row) {
        if (!row.isNullAt(column)) {
            double value = read(row);
            double before = value - mean;
            count++;
            mean += before / count;
            m2 += before * (value - mean);
        }
    }

    @Override
    void retract(InternalRow row) {
        if (row.isNullAt(column)) {
            return;
        }
        if (count <= 1) {
            reset();
            return;
        }
        double value = read(row);
        double after = value - mean;
        count--;
        mean -= after / count;
        m2 -= after * (value - mean);
    }

    @Override
    void merge(InternalRow saved) {
        if (count == 0) {
            load(saved);
            return;
        }
        long others = saved.getLong(0), all = count + others;
        double distance = saved.getDouble(1) - mean;
        mean += (double) others / all * distance;
        m2 += saved.getDouble(2) + (double) count * others / all * distance * distance;
        count = all;
    }

    @Override
    boolean mergesInOrder() {
        return true;
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        return count == 0 || m2 < 0 ? null : (Object) m2;
    }
}

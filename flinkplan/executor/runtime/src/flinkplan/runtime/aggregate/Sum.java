package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** SUM, $SUM0 and AVG: a total, and the number of values in it. */
public final class Sum extends Accumulator {
    /** What becomes of the total. */
    private enum Result {
        SUM,
        SUM_OR_ZERO,
        AVERAGE
    }

    private final int column;
    private final DataType sumType;
    private final DataType type;
    private final Result result;
    private final Total total;
    private transient long count;

    private Sum(int column, DataType input, DataType sumType, DataType type, Result result) {
        this.column = column;
        this.sumType = sumType;
        this.type = type;
        this.result = result;
        this.total = Total.of(input, sumType, result == Result.SUM);
    }

    public static Sum sum(int column, DataType input, DataType type) {
        return new Sum(column, input, type, type, Result.SUM);
    }

    public static Sum sum0(int column, DataType input, DataType type) {
        return new Sum(column, input, type, type, Result.SUM_OR_ZERO);
    }

    /** An average of type {@code type}, whose total is held in {@code sumType}. */
    public static Sum average(int column, DataType input, DataType sumType, DataType type) {
        return new Sum(column, input, sumType, type, Result.AVERAGE);
    }

    @Override
    StructType schema() {
        return new StructType().add("sum", sumType).add("count", DataTypes.LongType);
    }

    @Override
    void reset() {
        total.set(total.zero());
        count = 0;
    }

    @Override
    void load(InternalRow saved) {
        total.set(saved.isNullAt(0) ? null : saved.get(0, sumType));
        count = saved.getLong(1);
    }

    @Override
    InternalRow save() {
        return Rows.of(total.get(), count);
    }

    @Override
    void add(InternalRow row) {
        if (!row.isNullAt(column)) {
            total.add(row, column);
            count++;
        }
    }

    @Override
    void retract(InternalRow row) {
        if (!row.isNullAt(column)) {
            total.subtract(row, column);
            count--;
        }
    }

    @Override
    boolean merges() {
        return total.isExact();
    }

    @Override
    boolean mergesInOrder() {
        return !total.isExact();
    }

    @Override
    boolean orderMatters() {
        return !total.isExact();
    }

    @Override
    void merge(InternalRow saved) {
        total.merge(saved);
        count += saved.getLong(1);
    }

    @Override
    Object value() {
        if (result == Result.SUM_OR_ZERO) {
            return total.get();
        }
        Object sum = total.get();
        if (count == 0 || sum == null) {
            return null;
        }
        return result == Result.AVERAGE ? Numbers.divide(sum, count, type) : sum;
    }
}

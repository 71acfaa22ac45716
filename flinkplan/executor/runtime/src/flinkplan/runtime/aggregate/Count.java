package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** COUNT: the number of rows in which none of some columns is NULL; COUNT(*) has no such columns. */
public final class Count extends Accumulator {
    private final int[] columns;
    private transient long count;

    public Count(int[] columns) {
        this.columns = columns;
    }

    @Override
    StructType schema() {
        return new StructType().add("count", DataTypes.LongType);
    }

    @Override
    void reset() {
        count = 0;
    }

    @Override
    void load(InternalRow saved) {
        count = saved.getLong(0);
    }

    @Override
    InternalRow save() {
        return Rows.of(count);
    }

    @Override
    void add(InternalRow row) {
        count += counted(row);
    }

    @Override
    void retract(InternalRow row) {
        count -= counted(row);
    }

    @Override
    boolean merges() {
        return true;
    }

    @Override
    void merge(InternalRow saved) {
        count += saved.getLong(0);
    }

    private int counted(InternalRow row) {
        for (int column : columns) {
            if (row.isNullAt(column)) {
                return 0;
            }
        }
        return 1;
    }

    @Override
    Object value() {
        return count;
    }
}

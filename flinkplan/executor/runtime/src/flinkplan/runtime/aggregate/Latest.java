package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** FIRST_VALUE and LAST_VALUE of rows that are never taken back; NULLs are passed over. */
public final class Latest extends Accumulator {
    private final int column;
    private final DataType type;
    private final boolean last;
    private transient Object value;

    public Latest(int column, DataType type, boolean last) {
        this.column = column;
        this.type = type;
        this.last = last;
    }

    @Override
    StructType schema() {
        return new StructType().add("value", type);
    }

    @Override
    void reset() {
        value = null;
    }

    @Override
    void load(InternalRow saved) {
        value = saved.isNullAt(0) ? null : saved.get(0, type);
    }

    @Override
    InternalRow save() {
        return Rows.of(value);
    }

    @Override
    void add(InternalRow row) {
        if (!row.isNullAt(column) && (last || value == null)) {
            value = row.get(column, type);
        }
    }

    @Override
    void merge(InternalRow saved) {
        if (!saved.isNullAt(0) && (last || value == null)) {
            value = saved.get(0, type);
        }
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        return value;
    }
}

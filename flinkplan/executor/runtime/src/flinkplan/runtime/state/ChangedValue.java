package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;

/** A value of a state whose TTL may have changed. */
final class ChangedValue implements ValueState<InternalRow> {
    private static final long serialVersionUID = 1L;

    private final transient ValueState<InternalRow> present;
    private final transient ValueState<InternalRow> former;

    /** @param former the variable of another TTL; null: it holds nothing */
    ChangedValue(ValueState<InternalRow> present, ValueState<InternalRow> former) {
        this.present = present;
        this.former = former;
    }

    @Override
    public boolean exists() {
        return present.exists() || former != null && former.exists();
    }

    @Override
    public InternalRow get() {
        InternalRow value = present.get();
        return value == null && former != null ? former.get() : value;
    }

    @Override
    public void update(InternalRow value) {
        present.update(value);
        clearFormer();
    }

    @Override
    public void clear() {
        present.clear();
        clearFormer();
    }

    private void clearFormer() {
        if (former != null) {
            former.clear();
        }
    }
}

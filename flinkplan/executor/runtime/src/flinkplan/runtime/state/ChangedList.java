package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import scala.collection.Iterator;

/** A list of a state whose TTL may have changed; what is appended then stands behind what was there. */
final class ChangedList implements ListState<InternalRow> {
    private static final long serialVersionUID = 1L;

    private final transient ListState<InternalRow> present;
    private final transient ListState<InternalRow> former;

    /** @param former the variable of another TTL; null: it holds nothing */
    ChangedList(ListState<InternalRow> present, ListState<InternalRow> former) {
        this.present = present;
        this.former = former;
    }

    @Override
    public boolean exists() {
        return present.exists() || former != null && former.exists();
    }

    @Override
    public Iterator<InternalRow> get() {
        return former != null ? former.get().concat(present::get) : present.get();
    }

    @Override
    public void put(Object elements) {
        present.put(elements);
        clearFormer();
    }

    @Override
    public void appendValue(InternalRow element) {
        present.appendValue(element);
    }

    @Override
    public void appendList(Object elements) {
        present.appendList(elements);
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

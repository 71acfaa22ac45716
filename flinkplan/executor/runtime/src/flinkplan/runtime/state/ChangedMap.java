package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/** A map of a state whose TTL may have changed. */
final class ChangedMap implements MapState<InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;

    private final transient MapState<InternalRow, InternalRow> present;
    private final transient MapState<InternalRow, InternalRow> former;

    /** @param former the variable of another TTL; null: it holds nothing */
    ChangedMap(MapState<InternalRow, InternalRow> present, MapState<InternalRow, InternalRow> former) {
        this.present = present;
        this.former = former;
    }

    /** Whether there is anything in the other variable. */
    boolean hasFormer() {
        return former != null;
    }

    @Override
    public boolean exists() {
        return present.exists() || former != null && former.exists();
    }

    @Override
    public InternalRow getValue(InternalRow key) {
        InternalRow value = present.getValue(key);
        return value == null && former != null ? former.getValue(key) : value;
    }

    @Override
    public boolean containsKey(InternalRow key) {
        return present.containsKey(key) || former != null && former.containsKey(key);
    }

    @Override
    public void updateValue(InternalRow key, InternalRow value) {
        present.updateValue(key, value);
        removeFormer(key);
    }

    @Override
    public Iterator<Tuple2<InternalRow, InternalRow>> iterator() {
        return former != null ? former.iterator().concat(present::iterator) : present.iterator();
    }

    @Override
    public Iterator<InternalRow> keys() {
        return former != null ? former.keys().concat(present::keys) : present.keys();
    }

    @Override
    public Iterator<InternalRow> values() {
        return former != null ? former.values().concat(present::values) : present.values();
    }

    @Override
    public void removeKey(InternalRow key) {
        StateVariables.remove(present, key);
        removeFormer(key);
    }

    private void removeFormer(InternalRow key) {
        if (former != null) {
            StateVariables.remove(former, key);
        }
    }

    @Override
    public void clear() {
        present.clear();
        if (former != null) {
            former.clear();
        }
    }
}

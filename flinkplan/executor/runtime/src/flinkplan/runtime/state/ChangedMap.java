package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/** A map of a state whose TTL may have changed. */
final class ChangedMap implements MapState<InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;

    private final transient MapState<InternalRow, InternalRow> present;
    private final transient FormerVariable<MapState<InternalRow, InternalRow>> former;

    ChangedMap(
            MapState<InternalRow, InternalRow> present, FormerVariable<MapState<InternalRow, InternalRow>> former) {
        this.present = present;
        this.former = former;
    }

    /** Whether there is anything in the other variable. */
    boolean hasFormer() {
        return former.any();
    }

    @Override
    public boolean exists() {
        return present.exists() || former.any() && former.state().exists();
    }

    @Override
    public InternalRow getValue(InternalRow key) {
        InternalRow value = present.getValue(key);
        return value == null && former.any() ? former.state().getValue(key) : value;
    }

    @Override
    public boolean containsKey(InternalRow key) {
        return present.containsKey(key) || former.any() && former.state().containsKey(key);
    }

    @Override
    public void updateValue(InternalRow key, InternalRow value) {
        present.updateValue(key, value);
        removeFormer(key);
    }

    @Override
    public Iterator<Tuple2<InternalRow, InternalRow>> iterator() {
        return former.any() ? former.state().iterator().concat(present::iterator) : present.iterator();
    }

    @Override
    public Iterator<InternalRow> keys() {
        return former.any() ? former.state().keys().concat(present::keys) : present.keys();
    }

    @Override
    public Iterator<InternalRow> values() {
        return former.any() ? former.state().values().concat(present::values) : present.values();
    }

    @Override
    public void removeKey(InternalRow key) {
        StateVariables.remove(present, key);
        removeFormer(key);
    }

    private void removeFormer(InternalRow key) {
        if (former.any()) {
            StateVariables.remove(former.state(), key);
        }
    }

    @Override
    public void clear() {
        present.clear();
        if (former.any()) {
            former.state().clear();
        }
    }
}

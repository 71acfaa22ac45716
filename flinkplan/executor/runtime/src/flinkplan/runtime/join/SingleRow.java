package flinkplan.runtime.join;

import flinkplan.runtime.row.Rows;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;

/** A side that keeps at most one row a key. */
final class SingleRow extends JoinSide {
    private final ValueState<InternalRow> state;
    private final int width;
    private Entry entry;
    private boolean loaded;
    private boolean changed;

    SingleRow(ValueState<InternalRow> state, int width) {
        this.state = state;
        this.width = width;
    }

    @Override
    void begin() {
        entry = null;
        loaded = false;
        changed = false;
    }

    private Entry load() {
        if (!loaded) {
            loaded = true;
            InternalRow stored = state.get();
            if (stored != null) {
                entry = new Entry(stored.getStruct(0, width), stored.getInt(1), stored.getInt(2));
            }
        }
        return entry;
    }

    @Override
    Collection<Entry> all() {
        return load() == null ? List.of() : List.of(entry);
    }

    @Override
    Entry replacedBy(InternalRow row) {
        return load();
    }

    @Override
    void add(InternalRow row, int associations) {
        loaded = true;
        changed = true;
        entry = new Entry(row, 1, associations);
    }

    @Override
    void remove(InternalRow row) {
        loaded = true;
        changed = true;
        entry = null;
    }

    @Override
    void flush() {
        if (entry != null && (changed || entry.changed)) {
            state.update(Rows.of(entry.row, entry.count, entry.associations));
        } else if (changed) {
            state.clear();
        }
    }
}

package flinkplan.runtime.join;

import flinkplan.runtime.row.Reused;
import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/** A side whose rows can be taken back: found by their unique key or, without one, by their whole content. */
final class KeyedRows extends JoinSide {
    /** How rows are found in the state and what is stored with their key. */
    private interface Layout {
        InternalRow key(InternalRow row);

        Entry read(InternalRow key, InternalRow value);

        InternalRow write(Entry entry);
    }

    private final MapState<InternalRow, InternalRow> state;
    private final Layout layout;
    private final boolean unique;
    private Map<InternalRow, Entry> entries = new LinkedHashMap<>();
    private boolean complete;

    private KeyedRows(MapState<InternalRow, InternalRow> state, Layout layout, boolean unique) {
        this.state = state;
        this.layout = layout;
        this.unique = unique;
    }

    static KeyedRows byRow(MapState<InternalRow, InternalRow> state) {
        return new KeyedRows(state, new WholeRow(), false);
    }

    static KeyedRows byUniqueKey(MapState<InternalRow, InternalRow> state, UnsafeProjection key, int width) {
        return new KeyedRows(state, new UniqueKey(key, width), true);
    }

    private record WholeRow() implements Layout {
        @Override
        public InternalRow key(InternalRow row) {
            return row;
        }

        @Override
        public Entry read(InternalRow key, InternalRow value) {
            return new Entry(key, value.getInt(0), value.getInt(1));
        }

        @Override
        public InternalRow write(Entry entry) {
            return Rows.of(entry.count, entry.associations);
        }
    }

    private record UniqueKey(UnsafeProjection projection, int width) implements Layout {
        @Override
        public InternalRow key(InternalRow row) {
            return projection.apply(row).copy();
        }

        @Override
        public Entry read(InternalRow key, InternalRow value) {
            return new Entry(value.getStruct(0, width), value.getInt(1), value.getInt(2));
        }

        @Override
        public InternalRow write(Entry entry) {
            return Rows.of(entry.row, entry.count, entry.associations);
        }
    }

    @Override
    void begin() {
        entries = Reused.emptied(entries, LinkedHashMap::new);
        complete = false;
    }

    private Entry find(InternalRow key) {
        Entry entry = entries.get(key);
        if (entry == null && !complete && !entries.containsKey(key)) {
            InternalRow value = state.getValue(key);
            entry = value == null ? null : layout.read(key, value);
            entries.put(key, entry);
        }
        return entry;
    }

    @Override
    Collection<Entry> all() {
        if (!complete) {
            complete = true;
            for (Iterator<Tuple2<InternalRow, InternalRow>> stored = state.iterator(); stored.hasNext(); ) {
                Tuple2<InternalRow, InternalRow> next = stored.next();
                entries.computeIfAbsent(next._1(), key -> layout.read(key, next._2()));
            }
        }
        List<Entry> present = new ArrayList<>(entries.size());
        for (Entry entry : entries.values()) {
            if (present(entry) != null) {
                present.add(entry);
            }
        }
        return present;
    }

    @Override
    Entry replacedBy(InternalRow row) {
        return unique ? present(find(layout.key(row))) : null;
    }

    @Override
    void add(InternalRow row, int associations) {
        InternalRow key = layout.key(row);
        Entry old = present(find(key));
        int count = unique || old == null ? 1 : old.count + 1;
        Entry entry = new Entry(row, count, associations);
        entry.changed = true;
        entries.put(key, entry);
    }

    @Override
    void remove(InternalRow row) {
        Entry entry = present(find(layout.key(row)));
        if (entry != null) {
            entry.count = unique ? 0 : entry.count - 1;
            entry.changed = true;
        }
    }

    private static Entry present(Entry entry) {
        return entry == null || entry.count == 0 ? null : entry;
    }

    @Override
    void flush() {
        entries.forEach((key, entry) -> {
            if (entry != null && entry.changed) {
                if (entry.count > 0) {
                    state.updateValue(key, layout.write(entry));
                } else {
                    state.removeKey(key);
                }
            }
        });
    }
}

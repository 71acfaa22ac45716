package flinkplan.runtime.join;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import scala.collection.Iterator;

/** A side that only grows: what it holds is read only when the other side asks, new rows are appended at once. */
final class AppendedRows extends JoinSide {
    private final ListState<InternalRow> state;
    private final List<Entry> entries = new ArrayList<>();
    private final List<InternalRow> added = new ArrayList<>();
    private boolean loaded;

    AppendedRows(ListState<InternalRow> state) {
        this.state = state;
    }

    @Override
    void begin() {
        entries.clear();
        added.clear();
        loaded = false;
    }

    @Override
    Collection<Entry> all() {
        if (!loaded) {
            loaded = true;
            List<Entry> stored = new ArrayList<>();
            for (Iterator<InternalRow> rows = state.get(); rows.hasNext(); ) {
                stored.add(new Entry(rows.next(), 1, 0));
            }
            entries.addAll(0, stored);
        }
        return entries;
    }

    @Override
    Entry replacedBy(InternalRow row) {
        return null;
    }

    @Override
    void add(InternalRow row, int associations) {
        entries.add(new Entry(row, 1, associations));
        added.add(row);
    }

    @Override
    void remove(InternalRow row) {
        throw new IllegalStateException("an insert-only input took a row back");
    }

    @Override
    void flush() {
        if (!added.isEmpty()) {
            state.appendList(added.toArray(InternalRow[]::new));
        }
    }
}

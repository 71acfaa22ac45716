package flinkplan.runtime.time;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;

/** A key's rows that wait: those of earlier batches are read only when asked for, new ones are appended in bulk. */
final class RowBuffer {
    private final ListState<InternalRow> state;
    private List<InternalRow> all;
    private List<InternalRow> added;
    private boolean replaced;

    RowBuffer(ListState<InternalRow> state) {
        this.state = state;
    }

    void begin() {
        all = null;
        added = new ArrayList<>();
        replaced = false;
    }

    void add(InternalRow row) {
        if (!replaced) {
            added.add(row);
        }
        if (all != null) {
            all.add(row);
        }
    }

    /** How many rows are in memory. */
    int size() {
        return all == null ? added.size() : all.size();
    }

    /** Keeps of the rows in memory what is chosen of them. */
    void keep(UnaryOperator<List<InternalRow>> chosen) {
        if (all == null) {
            added = chosen.apply(added);
            return;
        }
        List<InternalRow> kept = chosen.apply(all);
        if (kept != all) {
            replace(kept);
        }
    }

    /** All rows, in the order they came. */
    List<InternalRow> all() {
        if (all == null) {
            all = Rows.list(state.get());
            all.addAll(added);
        }
        return all;
    }

    void replace(List<InternalRow> rows) {
        all = new ArrayList<>(rows);
        added.clear();
        replaced = true;
    }

    void store() {
        if (!replaced) {
            if (!added.isEmpty()) {
                state.appendList(added.toArray(InternalRow[]::new));
            }
        } else if (all.isEmpty()) {
            state.clear();
        } else {
            state.put(all.toArray(InternalRow[]::new));
        }
    }
}

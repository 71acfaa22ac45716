package flinkplan.runtime.time;

import flinkplan.runtime.Rows;
import java.util.ArrayList;
import java.util.List;
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
        added.add(row);
        if (all != null) {
            all.add(row);
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

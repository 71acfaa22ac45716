package flinkplan.runtime.rank;

import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The first or last row of each key, each change of it emitted; by event time, or in the order of arrival.
 *
 * <p>Input rows are the key's columns, then the row as one struct.
 */
public final class Deduplicate extends Kernel {
    private static final StructType SEEN = new StructType().add("seen", DataTypes.BooleanType, false);

    private final StructType row;
    private final int rowOrdinal;
    private final int timeColumn;
    private final boolean keepLast;
    private final boolean updateBefore;
    private final boolean folds;
    private final long ttl;

    private transient ValueState<InternalRow> state;
    private transient InternalRow emitted;
    private transient InternalRow kept;
    private transient boolean seen;
    private transient boolean changed;

    /**
     * @param timeColumn the row's column of the event time, or -1: the arrival counts
     * @param folds whether the changes of a micro-batch come to one
     * @param changelog whether the kept row may be replaced by another
     */
    public Deduplicate(
            StructType input,
            StructType row,
            int timeColumn,
            boolean keepLast,
            boolean updateBefore,
            boolean folds,
            boolean changelog,
            long ttl) {
        super(input, row, changelog);
        this.row = row;
        this.rowOrdinal = input.fieldIndex("row");
        this.timeColumn = timeColumn;
        this.keepLast = keepLast;
        this.updateBefore = updateBefore;
        this.folds = folds;
        this.ttl = ttl;
    }

    @Override
    protected void open() {
        state = valueState("deduplicateState", remembersRows() ? new StructType().add("row", row) : SEEN, ttl);
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        seen = stored != null;
        kept = seen && remembersRows() ? stored.getStruct(0, row.length()) : null;
        emitted = kept;
        changed = false;
    }

    /** The first row to arrive is final: that there was one is all to know. */
    private boolean remembersRows() {
        return keepLast || timeColumn >= 0;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        if (seen && !replaces(current)) {
            return;
        }
        seen = true;
        kept = current;
        changed = true;
        if (!folds) {
            emitChange();
        }
    }

    /** Emits what has changed since the last time. */
    private void emitChange() {
        if (emitted == null) {
            emit(RowKind.INSERT, kept);
        } else if (timeColumn >= 0 || ttl > 0 || !emitted.equals(kept)) {
            if (updateBefore) {
                emit(RowKind.UPDATE_BEFORE, emitted);
            }
            emit(RowKind.UPDATE_AFTER, kept);
        }
        emitted = kept;
    }

    private boolean replaces(InternalRow current) {
        if (timeColumn < 0) {
            return keepLast;
        }
        long before = kept.getLong(timeColumn);
        long now = current.getLong(timeColumn);
        return keepLast ? before <= now : now < before;
    }

    @Override
    protected void finish() {
        if (!changed) {
            return;
        }
        if (folds) {
            emitChange();
        }
        state.update(remembersRows() ? Rows.of(kept) : Rows.of(true));
    }
}

package flinkplan.runtime.rank;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The first or last row of each key, each change of it emitted; by event time, or in the order of arrival.
 *
 * <p>Input rows are the key's columns, then the row as one struct.
 */
public final class Deduplicate extends ChangelogKernel {
    private static final StructType SEEN = new StructType().add("seen", DataTypes.BooleanType, false);

    private final Spec spec;
    private final StructType row;
    private final int rowOrdinal;

    private transient ValueState<InternalRow> state;
    private transient InternalRow emitted;
    private transient InternalRow kept;
    private transient boolean seen;
    private transient boolean changed;
    private transient long number;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the rows
     * @param timeColumn the row's column of the event time, or -1: the arrival counts
     * @param keepLast whether the last row is kept, not the first
     * @param updateBefore whether the row that an update replaces is emitted
     * @param folds whether the changes of a micro-batch come to one
     * @param changelog whether the kept row may be replaced by another
     */
    public record Spec(
            StructType row,
            int timeColumn,
            boolean keepLast,
            boolean updateBefore,
            boolean folds,
            boolean changelog,
            long ttl)
            implements Serializable {}

    public Deduplicate(StructType input, Spec spec) {
        super(input, spec.row, spec.changelog);
        this.spec = spec;
        this.row = spec.row;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        state = valueState("deduplicateState", remembersRows() ? new StructType().add("row", row) : SEEN, spec.ttl());
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
        return spec.keepLast() || spec.timeColumn() >= 0;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        if (seen && !replaces(current)) {
            return;
        }
        if (kept == null || isChange(kept, current)) {
            number = sequence();
        }
        seen = true;
        kept = current;
        changed = true;
        if (!spec.folds()) {
            emitChange();
        }
    }

    /** Emits what has changed since the last time. */
    private void emitChange() {
        if (emitted == null) {
            emit(RowKind.INSERT, kept, number);
        } else if (isChange(emitted, kept)) {
            if (spec.updateBefore()) {
                emit(RowKind.UPDATE_BEFORE, emitted, number);
            }
            emit(RowKind.UPDATE_AFTER, kept, number);
        }
        emitted = kept;
    }

    private boolean isChange(InternalRow before, InternalRow after) {
        return spec.timeColumn() >= 0 || spec.ttl() > 0 || !before.equals(after);
    }

    private boolean replaces(InternalRow current) {
        if (spec.timeColumn() < 0) {
            return spec.keepLast();
        }
        long before = kept.getLong(spec.timeColumn());
        long now = current.getLong(spec.timeColumn());
        return spec.keepLast() ? before <= now : now < before;
    }

    @Override
    protected void finish() {
        if (!changed) {
            return;
        }
        if (spec.folds()) {
            emitChange();
        }
        state.update(remembersRows() ? Rows.of(kept) : Rows.of(true));
    }
}

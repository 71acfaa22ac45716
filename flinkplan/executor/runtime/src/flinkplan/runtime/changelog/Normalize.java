package flinkplan.runtime.changelog;

import flinkplan.runtime.Condition;
import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Makes a complete changelog of upserts by key; rows that do not meet a condition count as absent.
 *
 * <p>Input rows are the key's columns, then the row as one struct.
 */
public final class Normalize extends Kernel {
    private final StructType row;
    private final int rowOrdinal;
    private final Condition condition;
    private final boolean updateBefore;
    private final long ttl;

    private transient ValueState<InternalRow> state;
    private transient BasePredicate predicate;
    private transient InternalRow kept;
    private transient boolean changed;

    public Normalize(StructType input, StructType row, Condition condition, boolean updateBefore, long ttl) {
        super(input, row, true);
        this.row = row;
        this.rowOrdinal = input.fieldIndex("row");
        this.condition = condition;
        this.updateBefore = updateBefore;
        this.ttl = ttl;
    }

    @Override
    protected void open() {
        state = valueState("changelogNormalizeState", new StructType().add("row", row), ttl);
        predicate = condition == null ? null : condition.compile();
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        kept = stored == null ? null : stored.getStruct(0, row.length());
        changed = false;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        boolean present = !RowKind.retracts(kind) && (predicate == null || predicate.eval(current));
        if (present) {
            upsert(current);
        } else if (kept != null) {
            emit(RowKind.DELETE, kept);
            replace(null);
        }
    }

    private void upsert(InternalRow current) {
        if (kept == null) {
            emit(RowKind.INSERT, current);
        } else if (ttl == 0 && kept.equals(current)) {
            return;
        } else {
            if (updateBefore) {
                emit(RowKind.UPDATE_BEFORE, kept);
            }
            emit(RowKind.UPDATE_AFTER, current);
        }
        replace(current);
    }

    private void replace(InternalRow current) {
        kept = current;
        changed = true;
    }

    @Override
    protected void finish() {
        if (!changed) {
            return;
        }
        if (kept == null) {
            state.clear();
        } else {
            state.update(Rows.of(kept));
        }
    }
}

package flinkplan.runtime.changelog;

import flinkplan.runtime.catalyst.Condition;
import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Makes a complete changelog of upserts by key; rows that do not meet a condition count as absent.
 *
 * <p>Input rows are the key's columns, then the row as one struct.
 */
public final class Normalize extends ChangelogKernel {
    private final Spec spec;
    private final int rowOrdinal;

    private transient ValueState<InternalRow> state;
    private transient BasePredicate predicate;
    private transient InternalRow kept;
    private transient boolean changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the rows
     * @param condition which rows count, or null: all
     * @param updateBefore whether the row that an update replaces is emitted
     * @param ttl of the last row, in milliseconds; 0: never expires
     */
    public record Spec(StructType row, Condition condition, boolean updateBefore, long ttl) implements Serializable {}

    public Normalize(StructType input, Spec spec) {
        super(input, spec.row, true);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        state = valueState("changelogNormalizeState", new StructType().add("row", spec.row()), spec.ttl());
        predicate = spec.condition() == null ? null : spec.condition().compile();
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        kept = stored == null ? null : stored.getStruct(0, spec.row().length());
        changed = false;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, spec.row().length());
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
        } else if (spec.ttl() == 0 && kept.equals(current)) {
            return;
        } else {
            if (spec.updateBefore()) {
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

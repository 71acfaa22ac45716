package flinkplan.runtime.time;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Joins each left row with the right side's latest row of its key, of which alone it keeps anything.
 *
 * <p>The right side's rows of a batch have sequence numbers before those of the left one's, so that these find at least
 * what the right side held when the batch began: its snapshot, in the first one. The input's columns are the key, and
 * {@link JoinInput}'s. Source: Flink's {@code TemporalProcessTimeJoinOperator}, and FLIP-326.
 */
public final class ProcessingTimeTemporalJoin extends ChangelogKernel {
    private final Spec spec;

    private transient JoinInput side;
    private transient ValueState<InternalRow> state;
    private transient InternalRow latest;
    private transient boolean changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the left rows have kinds
     * @param leftOuter whether left rows without a match are emitted
     * @param ttl of the right side's row, in milliseconds; 0: never expires
     */
    public record Spec(StructType columns, boolean changelog, boolean leftOuter, Match match, long ttl)
            implements Serializable {}

    public ProcessingTimeTemporalJoin(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec;
    }

    @Override
    protected void open() {
        side = JoinInput.of(input());
        StructType right = Rows.struct(input(), side.ordinal() + 2);
        state = valueState("right", new StructType().add("row", right), spec.ttl());
        spec.match().open();
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        latest = stored == null ? null : stored.getStruct(0, side.rightWidth());
        changed = false;
        spec.match().begin(key);
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        InternalRow values = side.values(row);
        if (side.isRight(row)) {
            latest = RowKind.retracts(kind) ? null : values;
            changed = true;
            return;
        }
        InternalRow right = latest != null && spec.match().of(values, latest) ? latest : null;
        if (right != null || spec.leftOuter()) {
            emit(kind, new JoinedRow(values, right == null ? side.noRight() : right));
        }
    }

    @Override
    protected void finish() {
        if (!changed) {
            return;
        }
        if (latest == null) {
            state.clear();
        } else {
            state.update(Rows.of(latest));
        }
    }
}

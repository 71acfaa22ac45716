package flinkplan.runtime.time;

import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Joins each left row with the right side's latest row of its key, of which alone it keeps anything.
 *
 * <p>The right side's rows of a batch have sequence numbers before those of the left one's, so that these find at least
 * what the right side held when the batch began: its snapshot, in the first one. The input's columns are the key, and
 * {@link Side}'s. Source: Flink's {@code TemporalProcessTimeJoinOperator}, and FLIP-326.
 */
public final class ProcessingTimeTemporalJoin extends Kernel {
    private final StructType input;
    private final boolean leftOuter;
    private final Match match;
    private final long ttl;

    private transient Side side;
    private transient ValueState<InternalRow> state;
    private transient InternalRow latest;
    private transient boolean changed;

    public ProcessingTimeTemporalJoin(
            StructType input, StructType columns, boolean changelog, boolean leftOuter, Match match, long ttl) {
        super(input, columns, changelog);
        this.input = input;
        this.leftOuter = leftOuter;
        this.match = match;
        this.ttl = ttl;
    }

    @Override
    protected void open() {
        side = Side.of(input);
        state = valueState("right", new StructType().add("row", Rows.struct(input, side.ordinal() + 2)), ttl);
        match.open();
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        latest = stored == null ? null : stored.getStruct(0, side.rightWidth());
        changed = false;
        match.begin(key);
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        InternalRow values = side.values(row);
        if (side.isRight(row)) {
            latest = RowKind.retracts(kind) ? null : values;
            changed = true;
            return;
        }
        InternalRow right = latest != null && match.of(values, latest) ? latest : null;
        if (right != null || leftOuter) {
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

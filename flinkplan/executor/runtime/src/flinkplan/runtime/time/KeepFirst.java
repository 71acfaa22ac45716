package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The first row of each key by event time, emitted once, when the watermark has reached its time.
 *
 * <p>Input rows are the key's columns, then the row as one struct.
 */
public final class KeepFirst extends TimedKernel {
    private static final long MICROS = 1000;

    private final Spec spec;
    private final int rowOrdinal;

    private transient ValueState<InternalRow> state;
    private transient InternalRow waiting;
    private transient long sequence;
    private transient boolean emitted;
    private transient boolean changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the rows
     * @param timeColumn the row's column of the event time
     */
    public record Spec(StructType row, int timeColumn) implements Serializable {}

    public KeepFirst(StructType input, Spec spec) {
        super(input, spec.row, false);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        StructType stored = new StructType()
                .add("waiting", spec.row())
                .add("sequence", DataTypes.LongType, false)
                .add("emitted", DataTypes.BooleanType, false);
        state = valueState("deduplicateState", stored, 0);
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        waiting = stored == null || stored.isNullAt(0) ? null : stored.getStruct(0, spec.row().length());
        sequence = stored == null ? 0 : stored.getLong(1);
        emitted = stored != null && stored.getBoolean(2);
        changed = false;
    }

    @Override
    protected long accept(InternalRow input, byte kind, long watermark) {
        InternalRow current = input.getStruct(rowOrdinal, spec.row().length());
        long time = time(current);
        if (emitted || (waiting != null && time(waiting) <= time)) {
            return NEVER;
        }
        if (time < watermark) {
            return drop(watermark - time);
        }
        waiting = current;
        sequence = sequence(input);
        changed = true;
        return time <= watermark ? dueWhenLate(time, watermark) : time;
    }

    /** A row behind the first one of its key is not counted as late. */
    @Override
    protected boolean lateRowsDependOnEmitted() {
        return true;
    }

    private long time(InternalRow row) {
        return Math.floorDiv(row.getLong(spec.timeColumn()), MICROS);
    }

    @Override
    protected long fire(long watermark) {
        if (waiting == null) {
            return NEVER;
        }
        if (time(waiting) > watermark) {
            return time(waiting);
        }
        emit(RowKind.INSERT, waiting, sequence);
        waiting = null;
        emitted = true;
        changed = true;
        return NEVER;
    }

    @Override
    protected void store() {
        if (changed) {
            state.update(Rows.of(waiting, sequence, emitted));
        }
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Emits rows in the order of their times, once the watermark has reached them, and by other columns where times
 * are equal. A row that is not behind the last one sorted is dropped.
 *
 * <p>The input's columns are the key, the time (ms), and one struct of the row.
 */
public final class TemporalSort extends TimedKernel {
    private static final StructType LAST = new StructType().add("last", DataTypes.LongType);

    private final Spec spec;
    private final int timeOrdinal;
    private final int rowOrdinal;
    private transient RowBuffer rows;
    private transient ValueState<InternalRow> state;
    private transient long last;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the struct
     */
    public record Spec(StructType row, RowOrder rowOrder) implements Serializable {}

    public TemporalSort(StructType input, Spec spec) {
        super(input, spec.row, false);
        this.spec = spec;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        rows = buffer("rows", input());
        state = valueState("last", LAST, 0);
    }

    @Override
    protected String timeColumn() {
        return Hidden.TIME;
    }

    @Override
    protected void begin(InternalRow key) {
        rows.begin();
        InternalRow stored = state.get();
        last = stored == null ? Long.MIN_VALUE : stored.getLong(0);
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        long time = row.getLong(timeOrdinal);
        if (time <= last) {
            return drop(last - time);
        }
        rows.add(row);
        return time;
    }

    @Override
    protected long fire(long watermark) {
        int width = spec.row().length();
        List<InternalRow> ready = new ArrayList<>();
        List<InternalRow> waiting = new ArrayList<>();
        long next = NEVER;
        for (InternalRow row : rows.all()) {
            long time = row.getLong(timeOrdinal);
            if (time <= watermark) {
                ready.add(row);
                last = Math.max(last, time);
            } else {
                waiting.add(row);
                next = Math.min(next, time);
            }
        }
        ready.sort((a, b) -> spec.rowOrder().compare(a.getStruct(rowOrdinal, width), b.getStruct(rowOrdinal, width)));
        for (InternalRow row : ready) {
            emit(RowKind.INSERT, row.getStruct(rowOrdinal, width), row.getLong(timeOrdinal));
        }
        rows.replace(waiting);
        return next;
    }

    @Override
    protected void store() {
        rows.store();
        if (last != Long.MIN_VALUE) {
            state.update(Rows.of(last));
        }
    }
}

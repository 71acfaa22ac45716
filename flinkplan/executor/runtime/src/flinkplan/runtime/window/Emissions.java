package flinkplan.runtime.window;

import flinkplan.runtime.batch.EndOfInput;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.SparkTime;
import flinkplan.runtime.window.KeyState.Counter;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What a call for one key emits, and what brings it about: a row at a watermark, or the time of a timer. */
final class Emissions {
    private final StructType columns;
    private final Assigner assigner;
    private final boolean counts;
    private final int sequenceOrdinal;

    private List<InternalRow> rows;
    private KeyState own;
    private long clock;
    private long causeTime;
    private long cause;
    private long sequence;

    /**
     * @param columns the schema of the function's columns
     * @param counts whether firings are counted
     */
    Emissions(StructType columns, Assigner assigner, boolean counts) {
        this.columns = columns;
        this.assigner = assigner;
        this.counts = counts;
        this.sequenceOrdinal = columns.length() + 5;
    }

    /** The schema of what is emitted; {@code row}: that of late rows. */
    static StructType schema(StructType columns, StructType row) {
        StructType output = new StructType();
        for (StructField column : columns.fields()) {
            output = output.add(column.name(), column.dataType(), true);
        }
        return output.add(Hidden.START, DataTypes.LongType)
                .add(Hidden.END, DataTypes.LongType)
                .add(Hidden.FIRING, DataTypes.LongType)
                .add(Hidden.KEY_FIRING, DataTypes.LongType)
                .add(Hidden.LATE, row, true)
                .add(Hidden.SEQUENCE, DataTypes.LongType, false)
                .add(Hidden.WATERMARK, DataTypes.LongType, true)
                .add(Hidden.CAUSE_TIME, DataTypes.LongType, false)
                .add(Hidden.CAUSE_ROW, DataTypes.LongType, false);
    }

    /** Takes up a key. */
    void begin(KeyState own, long clock) {
        this.own = own;
        this.clock = clock;
        rows = new ArrayList<>();
    }

    /** All that the call has emitted. */
    List<InternalRow> rows() {
        return rows;
    }

    /** Has a timer bring about what is emitted next. */
    void byTimer(long time) {
        causeTime = time;
        cause = -1;
        sequence = shifted(time);
    }

    /** Has a row bring it about, at a watermark; {@code events}: whether the watermark brings anything about. */
    void byRow(long place, long watermark, boolean events) {
        causeTime = watermark;
        cause = place;
        sequence = events ? shifted(watermark) : place;
    }

    private static long shifted(long time) {
        return Math.max(0, SparkTime.timer(time));
    }

    /** A window's columns, its firing counted. */
    InternalRow bounds(Window window) {
        Object start = window.isGlobal() ? null : (Object) window.start();
        Object end = window.isGlobal() ? null : (Object) window.end();
        if (!counts) {
            return Rows.of(start, end, null, null);
        }
        Long firing = null;
        if (!assigner.merges()) {
            Counter counter = own.firings.computeIfAbsent(window, each -> new Counter(0, clock));
            firing = ++counter.count;
            counter.writtenAt = clock;
        }
        if (own.keyFirings == null) {
            own.keyFirings = new Counter(0, clock);
        }
        own.keyFirings.writtenAt = clock;
        return Rows.of(start, end, firing, ++own.keyFirings.count);
    }

    /** Emits a result of the function in a window. */
    void result(InternalRow result, InternalRow bounds) {
        long at = cause < 0 && causeTime > Long.MIN_VALUE ? causeTime - 1 : causeTime;
        Long passed = at == Long.MIN_VALUE ? null : (Long) at;
        InternalRow hidden = Rows.of(null, sequence, passed, causeTime, cause);
        rows.add(new JoinedRow(new JoinedRow(result, bounds), hidden));
    }

    /** The same of a window that fires when input has ended. */
    void resultAtEnd(InternalRow result, InternalRow bounds) {
        result(result, bounds);
        EndOfInput.putBehind(rows.get(rows.size() - 1), sequenceOrdinal);
    }

    /** Hands on a row that came too late, as it was. */
    void late(InternalRow row) {
        InternalRow nothing = Rows.nulls(columns.length() + 4);
        Long at = causeTime == Long.MIN_VALUE ? null : (Long) causeTime;
        rows.add(new JoinedRow(nothing, Rows.of(row, cause, at, causeTime, cause)));
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates over the rows up to each row, in event time: a row comes out, followed by the results, when the
 * watermark has reached its time.
 *
 * <p>The input's columns are the key, {@code __time} and the row as one struct. As in Flink, an unbounded frame
 * drops rows that the watermark has passed; a bounded one, which keeps its rows anyway, only those that are not
 * after the last ones that came out. The others come out when the watermark moves on. Operators behind may find those
 * late, so that a last column, {@code __passed}, tells the watermark at which each row comes out.
 *
 * <p>PyFlink's operator of frames of rows drops no row ({@code StreamArrowPythonRowTimeBoundedRowsOperator}): a late one
 * comes out with those that are before it by time, and is in the frames of those behind it. Its frames are made anew for
 * each row; a late row of a time whose rows have come out is in frames alone.
 */
public final class OverAggregate extends TimedKernel {
    /** Says, in the place of how many rows are in a frame, that frames are made anew. */
    private static final long ANEW = -1;
    private static final StructType FRAME = new StructType()
            .add("last", DataTypes.LongType, false)
            .add("inFrame", DataTypes.LongType, false)
            .add("expiry", DataTypes.LongType, false)
            .add("passed", DataTypes.LongType, false)
            .add("timers", DataTypes.createArrayType(DataTypes.LongType, false), false);

    private final Spec spec;
    private final int timeOrdinal;

    private transient TimedRows rows;
    private transient ValueState<InternalRow> state;
    private transient long last;
    private transient long inFrame;
    private transient long expiry;
    private transient long passed;
    private transient TreeSet<Long> timers;
    /** How many of the rows of the earliest time have left a frame of rows. */
    private transient int gone;

    private transient boolean changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the struct, on which {@code aggregation} works
     * @param results the schema of the aggregation's results
     * @param byRows whether the frame counts rows (ROWS), or goes by time and shares equal times (RANGE)
     * @param preceding how many rows or milliseconds before the current row the frame begins; -1: unbounded
     * @param keepsLate whether frames of rows are PyFlink's, which drop no late row
     */
    public record Spec(
            StructType row,
            StructType results,
            Aggregation aggregation,
            boolean byRows,
            long preceding,
            boolean keepsLate)
            implements Serializable {}

    public OverAggregate(StructType input, Spec spec) {
        super(input, spec.row.merge(spec.results, true).add(Hidden.PASSED, DataTypes.LongType, false), false);
        this.spec = spec;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
    }

    @Override
    protected void open() {
        spec.aggregation().open(this);
        rows = new TimedRows(this, "rows", spec.row());
        state = valueState("frame", FRAME.merge(spec.aggregation().schema(), true), 0);
    }

    @Override
    protected String timeColumn() {
        return Hidden.TIME;
    }

    @Override
    protected void begin(InternalRow key) {
        InternalRow stored = state.get();
        rows.begin(stored == null && !isWaiting());
        changed = false;
        gone = 0;
        timers = new TreeSet<>();
        if (stored == null) {
            reset();
        } else {
            last = stored.getLong(0);
            inFrame = stored.getLong(1);
            expiry = stored.getLong(2);
            passed = stored.getLong(3);
            for (long timer : stored.getArray(4).toLongArray()) {
                timers.add(timer);
            }
            spec.aggregation().begin(stored, FRAME.length());
        }
        if (spec.keepsLate() && inFrame != ANEW) {
            waitForAll();
        }
    }

    /** Has rows come out at their times that wait in a state without timers. */
    private void waitForAll() {
        for (long time : rows.all().tailMap(last, false).keySet()) {
            timers.add(time);
            changed = true;
        }
        last = 0;
        inFrame = ANEW;
    }

    private void reset() {
        last = 0; // where Flink starts, too
        inFrame = 0;
        expiry = NEVER;
        passed = Long.MIN_VALUE;
        spec.aggregation().begin();
    }

    /** What waits for the end of input comes out among the rows of other keys, as if the watermark moved on alone. */
    @Override
    public boolean numbersByTime() {
        return isBounded() && timeMode().equals(TimeMode.EventTime());
    }

    @Override
    protected long accept(InternalRow input, byte kind, long watermark) {
        long time = timeOf(input);
        boolean isLate = time <= watermark;
        if (isBounded() && isLate && watermark > passed) {
            fireBefore(watermark); // what is late comes behind all that was on time
            passed = watermark;
        }
        long reached = isBounded() ? last : watermark;
        if (time <= reached) {
            return drop(reached - time);
        }
        if (spec.keepsLate() && !rows.all().containsKey(time)) {
            timers.add(time);
            changed = true;
        }
        rows.add(time, input.getStruct(timeOrdinal + 1, spec.row().length()));
        if (isBounded() && !spec.byRows() && (expiry == NEVER || expiry <= time + spec.preceding())) {
            expiry = time + spec.preceding() + spec.preceding() / 2 + 1;
            timers.add(expiry);
            changed = true;
        }
        return isLate ? dueWhenLate(time, watermark) : time;
    }

    /** No row is late by the clock, though that of another machine may have been ahead. */
    private long timeOf(InternalRow input) {
        long time = input.getLong(timeOrdinal);
        boolean byClock = timeMode().equals(TimeMode.ProcessingTime());
        return byClock && isBounded() ? Math.max(time, last + 1) : time;
    }

    /** A late row is dropped where a later one of its key has come out. */
    @Override
    protected boolean lateRowsDependOnEmitted() {
        return isBounded() && !spec.keepsLate() && timeMode().equals(TimeMode.EventTime());
    }

    @Override
    protected long fire(long watermark) {
        changed = true;
        TreeMap<Long, List<InternalRow>> all = rows.all();
        long time = next(all);
        while (time <= watermark) {
            timers.remove(time);
            if (spec.keepsLate()) {
                emitAnew(time, all);
            } else if (expiry <= time) {
                expire(all);
            } else {
                emitAt(time, all);
            }
            time = next(all);
        }
        return time;
    }

    /** The earliest time whose rows have not come out, or at which a timer was set. */
    private long next(TreeMap<Long, List<InternalRow>> all) {
        if (spec.keepsLate()) {
            return timers.isEmpty() ? NEVER : timers.first();
        }
        Long time = isBounded() ? all.higherKey(last) : all.isEmpty() ? null : all.firstKey();
        return Math.min(time == null ? NEVER : time, timers.isEmpty() ? NEVER : timers.first());
    }

    private void emitAt(long time, TreeMap<Long, List<InternalRow>> all) {
        last = time; // as Flink has it, also where a timer runs out that was set anew meanwhile
        List<InternalRow> current = all.get(time);
        if (current == null) {
            return;
        }
        if (spec.byRows()) {
            for (InternalRow added : List.copyOf(current)) {
                makeRoom(all);
                spec.aggregation().add(added);
                emit(time, added, spec.aggregation().values());
            }
        } else {
            if (isBounded()) {
                while (all.firstKey() < time - spec.preceding()) {
                    retractFirst(all);
                }
            }
            current.forEach(spec.aggregation()::add);
            InternalRow values = spec.aggregation().values();
            current.forEach(added -> emit(time, added, values));
        }
        if (!isBounded()) {
            rows.remove(time);
        }
    }

    /** Emits the rows of a time, each after its own frame, and forgets those that are before all of these. */
    private void emitAnew(long time, TreeMap<Long, List<InternalRow>> all) {
        ArrayDeque<InternalRow> frame = new ArrayDeque<>();
        for (long earlier : List.copyOf(all.headMap(time, false).descendingKeySet())) {
            if (frame.size() >= spec.preceding()) {
                rows.remove(earlier);
                continue;
            }
            List<InternalRow> candidates = all.get(earlier);
            for (int i = candidates.size() - 1; i >= 0 && frame.size() < spec.preceding(); i--) {
                frame.addFirst(candidates.get(i));
            }
        }
        for (InternalRow added : List.copyOf(all.getOrDefault(time, List.of()))) {
            if (frame.size() > spec.preceding()) {
                frame.removeFirst();
            }
            frame.addLast(added);
            spec.aggregation().begin();
            frame.forEach(spec.aggregation()::add);
            emit(time, added, spec.aggregation().values());
        }
        spec.aggregation().begin();
    }

    private void emit(long time, InternalRow added, InternalRow values) {
        long at = Math.max(time - 1, passed);
        emit(RowKind.INSERT, new JoinedRow(new JoinedRow(added, values), Rows.of(at)), at + SparkTime.SHIFT);
    }

    /** Takes the oldest row out of a full frame of rows. */
    private void makeRoom(TreeMap<Long, List<InternalRow>> all) {
        if (!isBounded()) {
            return;
        }
        if (inFrame <= spec.preceding()) {
            inFrame++;
            return;
        }
        long oldest = all.firstKey();
        List<InternalRow> candidates = all.get(oldest);
        spec.aggregation().retract(candidates.get(gone++));
        if (gone == candidates.size()) {
            rows.remove(oldest);
            gone = 0;
        }
    }

    /** Takes what has left a frame of rows out of those of its time. */
    private void forgetGone() {
        if (gone > 0) {
            long oldest = rows.all().firstKey();
            rows.all().get(oldest).subList(0, gone).clear();
            rows.touch(oldest);
        }
    }

    private void retractFirst(TreeMap<Long, List<InternalRow>> all) {
        long oldest = all.firstKey();
        all.get(oldest).forEach(spec.aggregation()::retract);
        rows.remove(oldest);
    }

    /** Forgets a key for which no row came for one and a half frames. */
    private void expire(TreeMap<Long, List<InternalRow>> all) {
        while (!all.isEmpty()) {
            retractFirst(all);
        }
        spec.aggregation().save();
        reset();
    }

    private boolean isBounded() {
        return spec.preceding() >= 0;
    }

    @Override
    protected void store() {
        forgetGone();
        rows.flush();
        if (!changed) {
            return;
        }
        if (isBounded() && !spec.byRows() && expiry == NEVER) {
            state.clear();
        } else {
            ArrayData array = new GenericArrayData(timers.toArray());
            state.update(new JoinedRow(Rows.of(last, inFrame, expiry, passed, array), spec.aggregation().save()));
        }
    }
}

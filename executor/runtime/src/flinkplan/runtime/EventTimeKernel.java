package flinkplan.runtime;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * An operator that acts when the watermark passes a time.
 *
 * <p>Times are epoch milliseconds. Where rows carry Flink's watermark as they arrived ({@code __wm}), time passes
 * between the rows of a micro-batch as it does in Flink; what is left passes with Spark's watermark, behind the
 * batch's rows. A key has one timer, set to the earliest time that something is to be done.
 */
public abstract class EventTimeKernel extends Kernel {
    /** Stands for "nothing to wait for". */
    protected static final long NEVER = Long.MAX_VALUE;

    /** Spark's watermark and timers are moved up by this, so that none is before 1970. */
    private static final long SHIFT = 70_000_000_000_000L;

    private static final String LATENESS = "__wm";
    private static final StructType TIMER = new StructType().add("timer", DataTypes.LongType, false);

    private final int latenessOrdinal;

    private transient ValueState<InternalRow> timer;
    private transient long registered;
    private transient long next;
    private transient long watermark;
    private transient long sparkWatermark;

    protected EventTimeKernel(StructType input, StructType columns, boolean changelog) {
        super(input, columns, changelog);
        this.latenessOrdinal = List.of(input.fieldNames()).indexOf(LATENESS);
    }

    /** Does what is due at {@code watermark}, in the order of time; the earliest time that is left, or NEVER. */
    protected abstract long advance(long watermark);

    /** Asks for {@link #advance} when the watermark reaches {@code time}. */
    protected final void wakeAt(long time) {
        next = Math.min(next, time);
    }

    /** Flink's watermark as the current row arrived. */
    protected final long watermark() {
        return watermark;
    }

    /** Whether the key was waiting for a time when the batch began. */
    protected final boolean isWaiting() {
        return registered != NEVER;
    }

    /** Stamps the rows emitted next with a time, by which the operators behind will order them. */
    protected final void stampTime(long time) {
        stamp(time + SHIFT);
    }

    @Override
    final TimeMode timeMode() {
        return TimeMode.EventTime();
    }

    @Override
    protected void open() {
        timer = valueState("timer", TIMER, 0);
    }

    @Override
    public final Iterator<InternalRow> handleExpiredTimer(
            InternalRow key, TimerValues timers, ExpiredTimerInfo expired) {
        start(key, timers);
        return run(scala.collection.Iterator$.MODULE$.empty());
    }

    @Override
    final void start(InternalRow key, TimerValues timers) {
        InternalRow stored = timer.get();
        registered = stored == null ? NEVER : stored.getLong(0);
        next = registered;
        watermark = Long.MIN_VALUE;
        sparkWatermark = timers.getCurrentWatermarkInMs() - SHIFT;
        begin(key);
    }

    @Override
    final void accept(InternalRow row, byte kind) {
        if (latenessOrdinal >= 0 && !row.isNullAt(latenessOrdinal)) {
            reach(row.getLong(latenessOrdinal));
        }
        process(row, kind);
    }

    @Override
    final void end() {
        reach(sparkWatermark);
        finish();
        if (next != registered) {
            if (registered != NEVER) {
                getHandle().deleteTimer(registered + SHIFT);
            }
            if (next == NEVER) {
                timer.clear();
            } else {
                timer.update(Rows.of(next));
                getHandle().registerTimer(next + SHIFT);
            }
        }
    }

    private void reach(long time) {
        if (time > watermark) {
            watermark = time;
            if (next <= time) {
                next = NEVER;
                wakeAt(advance(time));
            }
        }
    }
}

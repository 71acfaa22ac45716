package flinkplan.runtime.time;

import flinkplan.runtime.SparkTime;
import flinkplan.runtime.source.Switch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.SparkSession;

/**
 * The watermarks of a query's sources, some of which hold no watermark back: those that have had no rows for their
 * timeout, and those whose watermark is the clock.
 *
 * <p>Spark's watermark is the lowest of all sources, and goes on with the highest time that each has ever shown. So a
 * source is passed by where a time is shown in its place: the lowest watermark of the others. When the rows of an idle
 * source come again, the watermark waits for it again, and never goes back, as in Flink. Once the clock alone is left,
 * it counts for all sources and for ever. Source: what FLIP-326 says of {@code StatusWatermarkValve}.
 */
public final class SourceWatermarks {
    /** The clock's times are multiples of this (milliseconds), as Flink sends watermarks from time to time. */
    public static final long INTERVAL = 200;

    private static final Map<String, SourceWatermarks> NAMED = new ConcurrentHashMap<>();

    private final boolean flushes;
    private final List<Source> sources = new ArrayList<>();
    private long polled;
    private boolean isByClock;

    /**
     * @param flushes whether the highest watermark counts once all sources are idle, as behind Flink's unions; behind
     *     its operators with two inputs the watermark then stays
     */
    public SourceWatermarks(boolean flushes) {
        this.flushes = flushes;
    }

    /** The sources that a query's control source is to look for under a name; once. */
    public static SourceWatermarks named(String name) {
        return name == null ? null : NAMED.remove(name);
    }

    /** Lets {@link #named} find these sources. */
    public void name(String name) {
        NAMED.put(name, this);
    }

    /**
     * Takes in a source.
     *
     * @param timeout after how many milliseconds without rows it is idle; with none of these it never is
     * @param toClock behind what its watermark is the clock; null: it never is
     */
    public SourceActivity add(SparkSession session, int number, long timeout, Switch toClock) {
        Source source = new Source(number, timeout, toClock);
        session.sparkContext().register(source.activity);
        sources.add(source);
        return source.activity;
    }

    /** Whether the clock is the watermark of all. */
    public boolean isByClock() {
        return isByClock;
    }

    /** Goes on where the clock was the watermark of all. */
    public void goByClock() {
        isByClock = true;
    }

    /**
     * The times (Spark's, milliseconds) to show in the place of sources, by their numbers.
     *
     * @param elapsed by what timeouts are measured (milliseconds)
     * @param clock what the system's clock shows (epoch milliseconds)
     * @throws IllegalStateException where the clock is to be the watermark, and is behind it
     */
    public Map<Integer, Long> times(long elapsed, long clock) {
        sources.forEach(source -> source.look(elapsed, polled, clock));
        polled = elapsed;
        Watermark watermark = combined();
        isByClock = watermark.useProcessingTime();
        long time = isByClock ? clock - Math.floorMod(clock, INTERVAL) : watermark.time();
        Map<Integer, Long> times = new TreeMap<>();
        for (Source source : sources) {
            boolean isPassedBy = isByClock || source.isIdle || source.sent.useProcessingTime();
            if (isPassedBy && time > source.activity.value()) {
                times.put(source.number, Math.max(time + SparkTime.SHIFT, 0));
            }
        }
        return times;
    }

    private Watermark combined() {
        if (isByClock) {
            return Watermark.CLOCK;
        }
        List<Watermark> active = sources.stream()
                .filter(source -> !source.isIdle)
                .map(source -> source.sent)
                .toList();
        if (!active.isEmpty()) {
            return Watermark.combined(active);
        }
        return flushes
                ? sources.stream()
                        .map(source -> source.sent)
                        .max(Comparator.comparingLong(Watermark::time))
                        .orElse(Watermark.NONE)
                : Watermark.NONE;
    }

    private static final class Source {
        private final int number;
        private final long timeout;
        private final Switch toClock;
        private final SourceActivity activity = new SourceActivity();
        private Watermark sent = Watermark.NONE;
        private long rows = -1;
        private long active;
        private boolean isIdle;

        Source(int number, long timeout, Switch toClock) {
            this.number = number;
            this.timeout = timeout;
            this.toClock = toClock;
        }

        /** Rows that a batch is still to bring are not seen: without rows a source was up to {@code polled} only. */
        void look(long elapsed, long polled, long clock) {
            if (activity.rows() != rows) {
                rows = activity.rows();
                active = elapsed;
            }
            boolean isByClock = toClock != null && toClock.isPassed();
            if (!sent.useProcessingTime()) {
                sent = sent.then(new Watermark(activity.value(), false), clock);
            }
            if (isByClock) {
                sent = sent.then(Watermark.CLOCK, clock);
            }
            isIdle = !isByClock && timeout > 0 && polled - active >= timeout;
        }
    }
}

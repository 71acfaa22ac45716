package flinkplan.runtime.watermark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.spark.sql.SparkSession;

/**
 * The watermarks of a query's sources, some of which hold no watermark back: those that have had no rows for their
 * timeout, and those whose watermark is the clock.
 *
 * <p>Spark's watermark is the lowest of all sources, and goes on with the highest time that each has ever shown. So a
 * source is passed by where a time is shown in its place: the lowest watermark of the others. When the rows of an idle
 * source come again, the watermark waits for it again, and never goes back, as in Flink. Once the clock alone is left,
 * it counts for all sources and for ever. Source: what FLIP-326 says of {@code StatusWatermarkValve}.
 *
 * <p>The watermark of a source may be the lowest of its partitions', which no row shows: then that is always shown. Each
 * partition is idle by itself, as in Flink's {@code WatermarkOutputMultiplexer}.
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
     * @param toClock says whether its watermark is the clock from now on; null: it never is
     */
    public SourceActivity add(SparkSession session, int number, long timeout, BooleanSupplier toClock) {
        Source source = new Source(number, timeout, toClock);
        session.sparkContext().register(source.activity);
        sources.add(source);
        return source.activity;
    }

    /**
     * Moves the watermark of a source on to a time (epoch milliseconds) behind the rows that are there, as if it came
     * from the source itself.
     */
    public void advance(int number, long time) {
        for (Source source : sources) {
            if (source.number == number) {
                source.advanced = time;
                source.activity.add(time);
            }
        }
    }

    /** Lets the watermark of a source be the lowest of its partitions', of these and of others that rows come of. */
    public void divide(int number, List<String> partitions) {
        for (Source source : sources) {
            if (source.number == number) {
                source.parts.clear();
                partitions.forEach(name -> source.parts.put(name, new Part()));
                source.isDivided = true;
            }
        }
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
            boolean isPassedBy = isByClock || source.isIdle() || source.sent.useProcessingTime();
            long own = source.isDivided ? source.sent.time() : source.activity.value();
            long shown = isPassedBy ? Math.max(time, own) : own;
            boolean isShown = source.isDivided || source.advanced > Watermark.NONE.time();
            if (shown > own || (isShown && own > Watermark.NONE.time())) {
                times.put(source.number, Math.max(shown + SparkTime.SHIFT, 0));
            }
        }
        return times;
    }

    private Watermark combined() {
        if (isByClock) {
            return Watermark.CLOCK;
        }
        List<Watermark> active = sources.stream()
                .filter(source -> !source.isIdle())
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
        private final BooleanSupplier toClock;
        private final SourceActivity activity = new SourceActivity();
        private final Map<String, Part> parts = new TreeMap<>(Map.of(SourceActivity.WHOLE, new Part()));
        private boolean isDivided;
        private long advanced = Watermark.NONE.time();
        private Watermark sent = Watermark.NONE;
        private boolean isByClock;

        Source(int number, long timeout, BooleanSupplier toClock) {
            this.number = number;
            this.timeout = timeout;
            this.toClock = toClock;
        }

        /** Rows that a batch is still to bring are not seen: without rows a source was up to {@code polled} only. */
        void look(long elapsed, long polled, long clock) {
            activity.parts().keySet().forEach(name -> parts.computeIfAbsent(name, any -> new Part()));
            parts.forEach((name, part) -> {
                part.look(activity.part(name), elapsed);
                part.isIdle = timeout > 0 && polled - part.active >= timeout;
            });
            isByClock = toClock != null && toClock.getAsBoolean();
            if (!sent.useProcessingTime()) {
                sent = sent.then(new Watermark(lowest(), false), clock);
            }
            if (isByClock) {
                sent = sent.then(Watermark.CLOCK, clock);
            }
        }

        private long lowest() {
            return parts.values().stream()
                    .filter(part -> !part.isIdle)
                    .mapToLong(part -> part.watermark)
                    .min()
                    .orElse(Watermark.NONE.time());
        }

        boolean isIdle() {
            return !isByClock && parts.values().stream().allMatch(part -> part.isIdle);
        }
    }

    /** A partition of a source, or a whole one. */
    private static final class Part {
        private long rows = -1;
        private long active;
        private long watermark = Watermark.NONE.time();
        private boolean isIdle;

        void look(SourceActivity.Part told, long elapsed) {
            if (told.rows() != rows) {
                rows = told.rows();
                active = elapsed;
            }
            watermark = told.watermark();
        }
    }
}

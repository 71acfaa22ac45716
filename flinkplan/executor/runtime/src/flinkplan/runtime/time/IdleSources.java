package flinkplan.runtime.time;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * The sources of a query, of which those that have had no rows for their timeout hold no watermark back.
 *
 * <p>Spark's watermark is the lowest of all sources, and goes on with the highest time that each has ever shown. So an
 * idle source is passed by where a time is shown in its place: the lowest watermark of those that are active. When its
 * rows come again, the watermark waits for it again, and never goes back, as in Flink.
 */
public final class IdleSources {
    private static final Map<String, IdleSources> NAMED = new ConcurrentHashMap<>();

    private final boolean flushes;
    private final List<Source> sources = new ArrayList<>();
    private long polled;

    /**
     * @param flushes whether the highest watermark counts once all sources are idle, as behind Flink's unions; behind
     *     its operators with two inputs the watermark then stays
     */
    public IdleSources(boolean flushes) {
        this.flushes = flushes;
    }

    /** The sources that a query's control source is to look for under a name; once. */
    public static IdleSources named(String name) {
        return name == null ? null : NAMED.remove(name);
    }

    /** Lets {@link #named} find these sources. */
    public void name(String name) {
        NAMED.put(name, this);
    }

    /** Takes in a source that is idle after so many milliseconds without rows; with none of these it never is. */
    public SourceActivity add(SparkSession session, int number, long timeout) {
        Source source = new Source(number, timeout);
        session.sparkContext().register(source.activity);
        sources.add(source);
        return source.activity;
    }

    /** The times (Spark's, milliseconds) to show in the place of idle sources, by their numbers. */
    public Map<Integer, Long> times(long now) {
        sources.forEach(source -> source.look(now, polled));
        polled = now;
        long watermark = passed();
        Map<Integer, Long> times = new TreeMap<>();
        for (Source source : sources) {
            if (source.isIdle && watermark > source.activity.value()) {
                times.put(source.number, Math.max(watermark + TimedKernel.SHIFT, 0));
            }
        }
        return times;
    }

    /** The watermark that idle sources let pass. */
    private long passed() {
        if (sources.stream().allMatch(source -> source.isIdle)) {
            return flushes ? watermarks(sources.stream()).max().orElse(Long.MIN_VALUE) : Long.MIN_VALUE;
        }
        return watermarks(sources.stream().filter(source -> !source.isIdle)).min().getAsLong();
    }

    private static LongStream watermarks(Stream<Source> sources) {
        return sources.mapToLong(source -> source.activity.value());
    }

    private static final class Source {
        private final int number;
        private final long timeout;
        private final SourceActivity activity = new SourceActivity();
        private long rows = -1;
        private long active;
        private boolean isIdle;

        Source(int number, long timeout) {
            this.number = number;
            this.timeout = timeout;
        }

        /** Rows that a batch is still to bring are not seen: without rows a source was up to {@code polled} only. */
        void look(long now, long polled) {
            if (activity.rows() != rows) {
                rows = activity.rows();
                active = now;
            }
            isIdle = timeout > 0 && polled - active >= timeout;
        }
    }
}

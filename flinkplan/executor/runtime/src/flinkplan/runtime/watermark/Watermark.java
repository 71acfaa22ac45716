package flinkplan.runtime.watermark;

import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;

/**
 * A watermark as FLIP-326 has it: a time, or from now on whatever the system's clock shows.
 *
 * @param time epoch milliseconds; the highest so far where the clock counts
 * @param useProcessingTime whether the clock counts
 */
public record Watermark(long time, boolean useProcessingTime) {
    /** Before there is one. */
    public static final Watermark NONE = new Watermark(Long.MIN_VALUE, false);

    /** The clock. */
    public static final Watermark CLOCK = new Watermark(Long.MIN_VALUE, true);

    /**
     * What counts once a source has sent another one behind this: a time never goes back, and the clock counts for
     * ever. Source: what the FLIP says of {@code WatermarkToDataOutput}.
     *
     * @param now what the clock shows (epoch milliseconds)
     * @throws IllegalStateException where the clock counted already, or would go back
     */
    public Watermark then(Watermark next, long now) {
        if (useProcessingTime && !next.useProcessingTime) {
            throw new IllegalStateException("a watermark by event time comes behind one by processing time");
        }
        if (next.useProcessingTime && now < time) {
            throw new IllegalStateException("the watermark is " + Instant.ofEpochMilli(time)
                    + ", and is to be the system's clock from now on, which shows " + Instant.ofEpochMilli(now)
                    + ": it would go back");
        }
        return new Watermark(Math.max(time, next.time), next.useProcessingTime);
    }

    /** The watermark of what has several inputs; none of these is idle. Source: the FLIP's table. */
    public static Watermark combined(Collection<Watermark> inputs) {
        return inputs.stream()
                .filter(input -> !input.useProcessingTime)
                .min(Comparator.comparingLong(Watermark::time))
                .orElse(CLOCK);
    }
}

package flinkplan.runtime.watermark;

import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.util.AccumulatorV2;

/**
 * What a source has done so far, as tasks tell it: how many rows it had, and its highest watermark.
 *
 * <p>It is told of each of its partitions where these have watermarks of their own, else of one without a name.
 */
public final class SourceActivity extends AccumulatorV2<Long, Long> {
    static final String WHOLE = "";

    private final Map<String, Part> parts = new ConcurrentHashMap<>();

    /** What a partition has done. */
    static final class Part implements Serializable {
        private long rows;
        private long watermark = Long.MIN_VALUE;

        /** Called for each row, with the watermark behind it. */
        void add(long watermark) {
            rows++;
            this.watermark = Math.max(this.watermark, watermark);
        }

        long rows() {
            return rows;
        }

        /** The highest one (epoch milliseconds); the lowest number where there was no row. */
        long watermark() {
            return watermark;
        }
    }

    /** What a partition has done, which may be told more. */
    Part part(String name) {
        return parts.computeIfAbsent(name, any -> new Part());
    }

    /** What partitions have done, by their names. */
    Map<String, Part> parts() {
        return parts;
    }

    /** Called for each row of a source whose partitions have no watermarks of their own. */
    @Override
    public void add(Long watermark) {
        part(WHOLE).add(watermark);
    }

    /** The highest watermark (epoch milliseconds); the lowest number where there was no row. */
    @Override
    public Long value() {
        return parts.values().stream().mapToLong(Part::watermark).max().orElse(Long.MIN_VALUE);
    }

    @Override
    public boolean isZero() {
        return parts.isEmpty();
    }

    @Override
    public SourceActivity copy() {
        SourceActivity copy = new SourceActivity();
        copy.merge(this);
        return copy;
    }

    @Override
    public void reset() {
        parts.clear();
    }

    @Override
    public void merge(AccumulatorV2<Long, Long> other) {
        ((SourceActivity) other).parts.forEach((name, told) -> {
            Part part = part(name);
            part.rows += told.rows;
            part.watermark = Math.max(part.watermark, told.watermark);
        });
    }
}

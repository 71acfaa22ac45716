package flinkplan.runtime.time;

import org.apache.spark.util.AccumulatorV2;

/** What a source has done so far, as tasks tell it: how many rows it had, and its highest watermark. */
public final class SourceActivity extends AccumulatorV2<Long, Long> {
    private long rows;
    private long watermark = Long.MIN_VALUE;

    /** Called for each row, with the source's watermark behind it. */
    @Override
    public void add(Long watermark) {
        add(watermark.longValue());
    }

    void add(long watermark) {
        rows++;
        this.watermark = Math.max(this.watermark, watermark);
    }

    long rows() {
        return rows;
    }

    /** The highest watermark (epoch milliseconds); the lowest number where there was no row. */
    @Override
    public Long value() {
        return watermark;
    }

    @Override
    public boolean isZero() {
        return rows == 0;
    }

    @Override
    public SourceActivity copy() {
        SourceActivity copy = new SourceActivity();
        copy.merge(this);
        return copy;
    }

    @Override
    public void reset() {
        rows = 0;
        watermark = Long.MIN_VALUE;
    }

    @Override
    public void merge(AccumulatorV2<Long, Long> other) {
        SourceActivity activity = (SourceActivity) other;
        rows += activity.rows;
        watermark = Math.max(watermark, activity.watermark);
    }
}

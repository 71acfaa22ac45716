package flinkplan.runtime.watermark;

import flinkplan.runtime.catalyst.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Flink's watermark as it moves with the rows of one partition.
 *
 * <p>As Flink's watermark assigner does it: the watermark starts at 1970, never goes back, and is announced behind
 * a row when it has moved by more than the interval. Each task has its own tracker, deserialized with its code. It
 * goes on from what the batches before have reached, which is announced between batches: Flink does it from time to time.
 */
public final class WatermarkTracker implements Resumable, Serializable {
    private static final StructType RESULT = new StructType()
            .add("before", DataTypes.LongType)
            .add("after", DataTypes.LongType, false)
            .add("announced", DataTypes.LongType);

    private final long interval;
    private final long start;
    private final SourceActivity activity;
    private final transient ReachedWatermarks reached;
    private final transient String source;
    private boolean announcesNext;
    private long current;
    private long announced;
    private transient SourceActivity.Part part;
    private transient UTF8String partition;

    private WatermarkTracker(
            long interval, long start, SourceActivity activity, ReachedWatermarks reached, String source) {
        this.interval = interval;
        this.start = start;
        this.activity = activity;
        this.reached = reached;
        this.source = source;
        this.current = start;
        this.announced = start;
    }

    /**
     * A column of pairs: {@code before}, the watermark announced before the row (null: none yet), and {@code after},
     * the watermark with the row (the lowest number: none yet); {@code announced}: the one announced behind the row
     * (null: none).
     *
     * @param watermark the row's own watermark (BIGINT, milliseconds), null where it has none
     * @param activity what is told of each row; null where nobody asks
     * @param reached what the source, by its name there, has reached before a batch; null where there are no batches
     */
    public static Column track(
            Column watermark, long interval, SourceActivity activity, ReachedWatermarks reached, String source) {
        return track(watermark, new WatermarkTracker(interval, 0, activity, reached, source));
    }

    /** As {@link #track}, but the watermark is announced behind each row, from the earliest time on. */
    public static Column trackEach(
            Column watermark, SourceActivity activity, ReachedWatermarks reached, String source) {
        return track(watermark, new WatermarkTracker(-1, Long.MIN_VALUE, activity, reached, source));
    }

    /**
     * As {@link #track} of a source whose watermark is the lowest of its partitions': a row moves none of its own, and
     * is late by none; {@code activity} is told what its partition's is.
     *
     * @param partition the name of the row's partition
     */
    public static Column trackParts(Column watermark, Column partition, SourceActivity activity) {
        WatermarkTracker fresh = new WatermarkTracker(-1, Long.MIN_VALUE, activity, null, null);
        List<DataType> types = List.of(DataTypes.LongType, DataTypes.StringType);
        return MethodCall.stateful(fresh, "tell", RESULT, List.of(watermark, partition), types);
    }

    private static Column track(Column watermark, WatermarkTracker fresh) {
        return MethodCall.stateful(fresh, "advance", RESULT, List.of(watermark), List.of(DataTypes.LongType));
    }

    @Override
    public WatermarkTracker resumed(long batch, long watermark) {
        WatermarkTracker next = new WatermarkTracker(interval, start, activity, reached, source);
        if (reached != null) {
            long own = reached.before(batch, source);
            next.current = Math.max(start, own == Long.MIN_VALUE ? watermark : own);
            next.announced = next.current;
            next.announcesNext = reached.isRealTime() && next.current > start;
        }
        return next;
    }

    /** Called for each row, in order. */
    public InternalRow advance(long watermark) {
        Object before = announced == start ? null : announced;
        current = Math.max(current, watermark);
        long after = current == start ? Long.MIN_VALUE : current;
        if (activity != null) {
            if (part == null) {
                part = activity.part(SourceActivity.WHOLE);
            }
            part.add(after);
        }
        boolean moves = announcesNext || (interval < 0 ? current > announced : current - announced > interval);
        announcesNext = false;
        if (moves) {
            announced = current;
        }
        return new GenericInternalRow(new Object[] {before, after, moves ? (Long) announced : null});
    }

    /** Called for each row of a source whose partitions have watermarks of their own. */
    public InternalRow tell(long watermark, UTF8String name) {
        if (activity != null) {
            if (!name.equals(partition)) {
                partition = name.clone();
                part = activity.part(name.toString());
            }
            part.add(watermark);
        }
        return new GenericInternalRow(new Object[] {null, start, null});
    }
}

package flinkplan.runtime.window;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.SparkTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Puts what window operators emit into the order in which Flink emits it, with the watermark that Flink had then.
 *
 * <p>An operator works on each key by itself, and some keys are ahead of Spark's watermark; the windows that read its
 * results need them as a single-threaded job would hand them on. The input has one key, {@code __tick} (a watermark of
 * the source, or NULL), the row as one struct, its cause's time and row. A row is handed on once Spark's watermark has
 * reached its cause, when nothing can come before it any more. What a timer caused was emitted when the watermark had
 * not moved yet: at the last one of the source before the timer's time.
 */
public final class EmissionOrder extends Kernel {
    private static final int TICK = 1, VALUES = 2, TIME = 3, CAUSE = 4;
    private static final StructType PROGRESS = new StructType()
            .add("count", DataTypes.LongType, false)
            .add("scheduled", DataTypes.LongType, false)
            .add("ticks", DataTypes.createArrayType(DataTypes.LongType, false), false);

    private final StructType row;
    private final StructType pendingRow;

    private transient ValueState<InternalRow> progress;
    private transient ListState<InternalRow> pending;

    public EmissionOrder(StructType input) {
        super(input);
        this.row = Rows.struct(input, VALUES);
        this.pendingRow = new StructType()
                .add("values", row)
                .add("time", DataTypes.LongType, false)
                .add("cause", DataTypes.LongType, false);
    }

    @Override
    public TimeMode timeMode() {
        return TimeMode.EventTime();
    }

    @Override
    public StructType outputSchema() {
        return new StructType()
                .add(Hidden.ROW, row, false)
                .add(Hidden.SEQUENCE, DataTypes.LongType, false)
                .add(Hidden.WATERMARK, DataTypes.LongType, true);
    }

    @Override
    protected void open() {
        progress = valueState("progress", PROGRESS, 0);
        pending = listState("pending", pendingRow, 0);
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> input, TimerValues timers) {
        TreeSet<Long> ticks = new TreeSet<>();
        List<InternalRow> rows = new ArrayList<>();
        input.foreach(each -> each.isNullAt(TICK)
                ? rows.add(Rows.of(each.getStruct(VALUES, row.length()), each.getLong(TIME), each.getLong(CAUSE)))
                : ticks.add(each.getLong(TICK)));
        return handOn(ticks, rows, timers, false);
    }

    @Override
    public Iterator<InternalRow> handleExpiredTimer(InternalRow key, TimerValues timers, ExpiredTimerInfo expired) {
        return handOn(new TreeSet<>(), new ArrayList<>(), timers, true);
    }

    private Iterator<InternalRow> handOn(
            TreeSet<Long> ticks, List<InternalRow> rows, TimerValues timers, boolean expired) {
        long watermark = timers.getCurrentWatermarkInMs();
        long until = SparkTime.watermark(watermark);
        InternalRow saved = progress.get();
        long count = saved == null ? 0 : saved.getLong(0);
        long scheduled = saved == null || expired ? NEVER : saved.getLong(1);
        if (saved != null) {
            for (long tick : saved.getArray(2).toLongArray()) {
                ticks.add(tick);
            }
        }
        List<InternalRow> all = new ArrayList<>(CollectionConverters.asJava(pending.get().toSeq()));
        boolean had = !all.isEmpty();
        all.addAll(rows);
        all.sort(Comparator.<InternalRow>comparingLong(each -> each.getLong(1))
                .thenComparingLong(each -> each.getLong(2)));
        List<InternalRow> emitted = new ArrayList<>();
        int done = 0;
        for (; done < all.size() && all.get(done).getLong(1) <= until; done++) {
            InternalRow each = all.get(done);
            Long at = each.getLong(2) >= 0 ? (Long) each.getLong(1) : ticks.lower(each.getLong(1));
            Long known = at == null || at == Long.MIN_VALUE ? null : at;
            emitted.add(new JoinedRow(Rows.of(each.getStruct(0, row.length())), Rows.of(count++, known)));
        }
        List<InternalRow> kept = all.subList(done, all.size());
        if (!kept.isEmpty()) {
            pending.put(kept.toArray(InternalRow[]::new));
        } else if (had) {
            pending.clear();
        }
        Long last = ticks.floor(until);
        TreeSet<Long> needed = last == null ? ticks : new TreeSet<>(ticks.tailSet(last, true));
        long due = kept.isEmpty() ? NEVER : SparkTime.timer(kept.get(0).getLong(1));
        if (due != scheduled) {
            reschedule(scheduled, due);
        }
        ArrayData array =
                ArrayData.toArrayData(needed.stream().mapToLong(Long::longValue).toArray());
        progress.update(Rows.of(count, due, array));
        return CollectionConverters.asScala(emitted.iterator());
    }
}

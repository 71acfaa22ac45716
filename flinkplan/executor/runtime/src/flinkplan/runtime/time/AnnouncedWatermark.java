package flinkplan.runtime.time;

import flinkplan.runtime.realtime.Targets;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;

/**
 * Flink's watermark in real-time mode, where Spark's stands still for as long as a batch lasts.
 *
 * <p>The sources announce their watermarks to each partition, in the order of their rows. The lowest of them is the
 * operator's. They are kept under the key of the partition's announcements, so that a batch goes on where the last one
 * has ended.
 */
final class AnnouncedWatermark {
    /** A watermark among rows. */
    static final StructType TICK = new StructType()
            .add("source", DataTypes.IntegerType, false)
            .add("time", DataTypes.LongType, false);

    private static final long NONE = Long.MIN_VALUE;
    private static final StructType SOURCE = new StructType().add("source", DataTypes.IntegerType, false);
    private static final StructType TIME = new StructType().add("time", DataTypes.LongType, false);

    private final StatefulProcessorHandle handle;
    private final int[] sources;
    private final int ordinal;
    private final MapState<InternalRow, InternalRow> state;
    private Map<Integer, Long> announced;
    private long current = NONE;

    /** @param sources the numbers of all sources that the operator's rows come from; none: the operator before */
    AnnouncedWatermark(StatefulProcessorHandle handle, int[] sources, StructType input) {
        this.handle = handle;
        this.sources = sources;
        this.ordinal = input.fieldIndex(Hidden.TICK);
        this.state = handle.getMapState(
                "watermarks", Rows.stateEncoder(SOURCE), Rows.stateEncoder(TIME), TTLConfig.NONE());
    }

    /** A key whose timer has come; {@code key} is as Spark has it, with the target. */
    record Expired(InternalRow key, long time) {}

    /** A key without the target behind its columns. */
    static InternalRow plain(InternalRow key, StructType input) {
        int width = key.numFields() - 1;
        Object[] values = new Object[width];
        for (int i = 0; i < width; i++) {
            values[i] = key.get(i, input.apply(i).dataType());
        }
        return Rows.of(values);
    }

    boolean isTick(InternalRow row) {
        return !row.isNullAt(ordinal);
    }

    /** The watermark, while Spark works on a key. */
    long current(InternalRow key) {
        if (announced == null) {
            InternalRow own = Rows.nulls(key.numFields());
            own.setInt(key.numFields() - 1, Targets.number(TaskContext.getPartitionId()));
            ImplicitGroupingKeyTracker.setImplicitKey(own);
            load();
            ImplicitGroupingKeyTracker.setImplicitKey(key);
        }
        return current;
    }

    private void load() {
        announced = new HashMap<>();
        state.iterator().foreach(entry -> announced.put(entry._1().getInt(0), entry._2().getLong(0)));
        current = lowest();
    }

    private long lowest() {
        long lowest = Long.MAX_VALUE;
        for (int source : sources.length == 0 ? Targets.all() : sources) {
            lowest = Math.min(lowest, announced.getOrDefault(source, NONE));
        }
        return lowest;
    }

    /** Takes an announcement, while Spark works on its key; whether the watermark moves. */
    boolean advance(InternalRow row) {
        if (announced == null) {
            load();
        }
        InternalRow tick = row.getStruct(ordinal, 2);
        int source = tick.getInt(0);
        long time = tick.getLong(1);
        if (time <= announced.getOrDefault(source, NONE)) {
            return false;
        }
        announced.put(source, time);
        state.updateValue(Rows.of(source), Rows.of(time));
        long before = current;
        current = lowest();
        return current > before;
    }

    long current() {
        return current;
    }

    /** What this task announces to the operator behind. */
    InternalRow own() {
        return Rows.of(TaskContext.getPartitionId(), current);
    }

    /** The keys whose timers are the earliest of those that have come; Spark is to work on none. */
    List<Expired> earliest(long time) {
        List<Expired> earliest = new ArrayList<>();
        var timers = ((StatefulProcessorHandleImpl) handle).getExpiredTimers(time, Option.empty());
        while (timers.hasNext()) {
            Tuple2<Object, Object> timer = timers.next();
            long due = (Long) timer._2();
            if (!earliest.isEmpty() && due > earliest.get(0).time()) {
                break;
            }
            earliest.add(new Expired(((InternalRow) timer._1()).copy(), due));
        }
        return earliest;
    }
}

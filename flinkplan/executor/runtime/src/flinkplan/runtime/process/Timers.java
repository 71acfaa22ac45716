package flinkplan.runtime.process;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The timers of a key, with names and without. */
final class Timers {
    private static final StructType TIMER = new StructType()
            .add("name", DataTypes.StringType)
            .add("time", DataTypes.LongType, false)
            .add("due", DataTypes.LongType, false);
    static final StructType SCHEMA =
            new StructType().add("timers", DataTypes.createArrayType(TIMER, false), false);

    /**
     * A timer.
     *
     * @param name null: it has none
     * @param due the watermark that it waits for: its time, or of one that was set too late the next one
     */
    record Timer(String name, long time, long due) {}

    /** What one watermark reaches at once: first those without a name, as Flink's timer services do. */
    private static final Comparator<Timer> ORDER = Comparator.comparingLong(Timer::due)
            .thenComparing(timer -> timer.name() != null)
            .thenComparingLong(Timer::time)
            .thenComparing(Timer::name, Comparator.nullsFirst(Comparator.naturalOrder()));

    private final ValueState<InternalRow> state;
    private final TreeSet<Timer> timers = new TreeSet<>(ORDER);
    private final Map<Long, Timer> unnamed = new HashMap<>();
    private final Map<String, Timer> named = new HashMap<>();
    private boolean isChanged;

    Timers(ValueState<InternalRow> state) {
        this.state = state;
    }

    /** Starts on a key; {@code isEmpty}: it is known to have none. */
    void begin(boolean isEmpty) {
        timers.clear();
        unnamed.clear();
        named.clear();
        isChanged = false;
        InternalRow kept = isEmpty ? null : state.get();
        ArrayData rows = kept == null ? null : kept.getArray(0);
        for (int i = 0; rows != null && i < rows.numElements(); i++) {
            InternalRow row = rows.getStruct(i, TIMER.length());
            String name = row.isNullAt(0) ? null : row.getUTF8String(0).toString();
            add(new Timer(name, row.getLong(1), row.getLong(2)));
        }
    }

    void end() {
        if (!isChanged) {
            return;
        }
        if (timers.isEmpty()) {
            state.clear();
            return;
        }
        List<InternalRow> rows = new ArrayList<>();
        for (Timer timer : timers) {
            UTF8String name = timer.name() == null ? null : UTF8String.fromString(timer.name());
            rows.add(Rows.of(name, timer.time(), timer.due()));
        }
        state.update(Rows.of(new GenericArrayData(rows.toArray())));
    }

    private void add(Timer timer) {
        timers.add(timer);
        if (timer.name() == null) {
            unnamed.put(timer.time(), timer);
        } else {
            named.put(timer.name(), timer);
        }
    }

    private void remove(Timer timer) {
        if (timer != null) {
            isChanged = true;
            timers.remove(timer);
            unnamed.remove(timer.time(), timer);
            named.remove(timer.name(), timer);
        }
    }

    /** Sets a timer; one with a name takes the place of the former one, one without stays if it is there. */
    void register(String name, long time, long due) {
        if (name == null && unnamed.containsKey(time)) {
            return;
        }
        remove(named.get(name));
        isChanged = true;
        add(new Timer(name, time, due));
    }

    void unregister(String name) {
        remove(named.get(name));
    }

    void unregister(long time) {
        remove(unnamed.get(time));
    }

    void clear() {
        isChanged |= !timers.isEmpty();
        timers.clear();
        unnamed.clear();
        named.clear();
    }

    /** Takes the first timer that waits for a watermark, or for one before it; null where there is none. */
    Timer take(long watermark) {
        if (timers.isEmpty() || timers.first().due() > watermark) {
            return null;
        }
        Timer first = timers.first();
        remove(first);
        return first;
    }

    /** The watermark that the first timer waits for; {@code never} where there is none. */
    long due(long never) {
        return timers.isEmpty() ? never : timers.first().due();
    }
}

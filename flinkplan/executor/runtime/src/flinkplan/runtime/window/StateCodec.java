package flinkplan.runtime.window;

import flinkplan.runtime.row.Rows;
import flinkplan.runtime.window.KeyState.Counter;
import flinkplan.runtime.window.KeyState.Kept;
import flinkplan.runtime.window.KeyState.Timer;
import java.io.Serializable;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** What is kept of a key as one row of the state store. */
final class StateCodec implements Serializable {
    private static final StructType MERGED = longs("start", "end", "stateStart", "stateEnd");
    private static final StructType TIMER = longs("time", "start", "end");
    private static final StructType FIRINGS = longs("start", "end", "writtenAt", "count");

    private final StructType contents;
    private final StructType triggers;
    private final StructType accumulator;
    private final StructType row;

    /** @param accumulator null where rows are kept */
    StateCodec(StructType row, StructType accumulator) {
        this.row = row;
        this.accumulator = accumulator;
        this.contents = longs("start", "end", "writtenAt", "chunks")
                .add("accumulator", accumulator == null ? new StructType().add("none", "boolean") : accumulator);
        this.triggers = longs("start", "end", "writtenAt")
                .add("numbers", DataTypes.createArrayType(DataTypes.LongType, false), false)
                .add("row", row);
    }

    private static StructType longs(String... names) {
        StructType type = new StructType();
        for (String name : names) {
            type = type.add(name, DataTypes.LongType, false);
        }
        return type;
    }

    StructType schema() {
        return longs("scheduled", "mergedAt", "keyFirings", "keyFiringsAt", "lateness", "watermark")
                .add("contents", array(contents), false)
                .add("merged", array(MERGED), false)
                .add("triggers", array(triggers), false)
                .add("eventTimers", array(TIMER), false)
                .add("clockTimers", array(TIMER), false)
                .add("firings", array(FIRINGS), false);
    }

    private static DataType array(StructType element) {
        return DataTypes.createArrayType(element, false);
    }

    InternalRow write(KeyState key) {
        boolean fired = key.keyFirings != null;
        return Rows.of(
                key.scheduled,
                key.mergedAt,
                fired ? key.keyFirings.count : -1L,
                fired ? key.keyFirings.writtenAt : 0L,
                key.lateness,
                key.watermark,
                rows(key.contents.entrySet(), entry -> {
                    Window window = entry.getKey();
                    Contents kept = entry.getValue();
                    return Rows.of(
                            window.start(), window.end(), kept.writtenAt, (long) kept.chunks, kept.accumulator);
                }),
                rows(key.merged.entrySet(), entry -> {
                    Window from = entry.getKey(), to = entry.getValue();
                    return Rows.of(from.start(), from.end(), to.start(), to.end());
                }),
                rows(key.triggers.entrySet(), entry -> {
                    Window window = entry.getKey();
                    TriggerState state = entry.getValue().state;
                    ArrayData numbers = ArrayData.toArrayData(state.numbers());
                    return Rows.of(window.start(), window.end(), entry.getValue().writtenAt, numbers, state.row());
                }),
                rows(key.eventTimers, StateCodec::timer),
                rows(key.clockTimers, StateCodec::timer),
                rows(key.firings.entrySet(), entry -> {
                    Window window = entry.getKey();
                    Counter counter = entry.getValue();
                    return Rows.of(window.start(), window.end(), counter.writtenAt, counter.count);
                }));
    }

    private static <T> ArrayData rows(Collection<T> values, Function<T, InternalRow> row) {
        return new GenericArrayData(values.stream().map(row).toArray());
    }

    private static InternalRow timer(Timer timer) {
        return Rows.of(timer.time(), timer.window().start(), timer.window().end());
    }

    KeyState read(InternalRow saved) {
        KeyState key = new KeyState();
        key.scheduled = saved.getLong(0);
        key.mergedAt = saved.getLong(1);
        key.lateness = saved.getLong(4);
        key.watermark = saved.getLong(5);
        key.keyFirings = saved.getLong(2) < 0 ? null : new Counter(saved.getLong(2), saved.getLong(3));
        each(saved.getArray(6), contents, entry -> {
            Contents kept = new Contents();
            kept.writtenAt = entry.getLong(2);
            kept.chunks = (int) entry.getLong(3);
            kept.accumulator =
                    accumulator == null || entry.isNullAt(4) ? null : entry.getStruct(4, accumulator.length());
            key.contents.put(window(entry, 0), kept);
        });
        each(saved.getArray(7), MERGED, entry -> key.merged.put(window(entry, 0), window(entry, 2)));
        each(saved.getArray(8), triggers, entry -> {
            InternalRow last = entry.isNullAt(4) ? null : entry.getStruct(4, row.length());
            TriggerState state = new TriggerState(entry.getArray(3).toLongArray(), last);
            key.triggers.put(window(entry, 0), new Kept(state, entry.getLong(2)));
        });
        each(saved.getArray(9), TIMER, entry -> key.eventTimers.add(new Timer(entry.getLong(0), window(entry, 1))));
        each(saved.getArray(10), TIMER, entry -> key.clockTimers.add(new Timer(entry.getLong(0), window(entry, 1))));
        each(saved.getArray(11), FIRINGS, entry ->
                key.firings.put(window(entry, 0), new Counter(entry.getLong(3), entry.getLong(2))));
        return key;
    }

    private static Window window(InternalRow entry, int at) {
        return new Window(entry.getLong(at), entry.getLong(at + 1));
    }

    private static void each(ArrayData array, StructType element, Consumer<InternalRow> take) {
        for (int i = 0; i < array.numElements(); i++) {
            take.accept(array.getStruct(i, element.length()));
        }
    }
}

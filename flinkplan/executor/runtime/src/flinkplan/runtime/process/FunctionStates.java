package flinkplan.runtime.process;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The states of a function for the key at work.
 *
 * <p>Where Spark lets states expire, it does. Where there are timers of event time it cannot: there each entry has the
 * time when it was written beside it, and one that is too old counts as none.
 */
public final class FunctionStates {
    private static final String PREFIX = "state-";

    /**
     * A state that the class of a function declares.
     *
     * @param kind {@code value}, {@code list} or {@code map}
     * @param key the type of a map's keys; null of others
     * @param value the type of the value, of a list's elements, or of a map's values
     * @param ttl how long (ms) an entry stays after it was written; 0: for ever
     */
    public record Spec(String name, String kind, DataType key, DataType value, long ttl) implements Serializable {}

    private final Spec[] specs;
    private final boolean isStamped;
    private final LongSupplier clock;
    private final List<ValueState<InternalRow>> values = new ArrayList<>();
    private final List<ListState<InternalRow>> lists = new ArrayList<>();
    private final List<MapState<InternalRow, InternalRow>> maps = new ArrayList<>();
    private final Object[] loaded;
    private final boolean[] isLoaded;
    private final boolean[] isChanged;

    /**
     * @param isStamped whether entries have the time of their writing
     * @param clock the time of the batch
     */
    FunctionStates(Kernel kernel, Spec[] specs, boolean isStamped, LongSupplier clock) {
        this.specs = specs;
        this.isStamped = isStamped;
        this.clock = clock;
        loaded = new Object[specs.length];
        isLoaded = new boolean[specs.length];
        isChanged = new boolean[specs.length];
        for (Spec spec : specs) {
            String name = PREFIX + spec.name();
            long ttl = isStamped ? 0 : spec.ttl();
            StructType entry = entry(spec.value());
            values.add(spec.kind().equals("value") ? kernel.valueState(name, entry, ttl) : null);
            lists.add(spec.kind().equals("list") ? kernel.listState(name, entry, ttl) : null);
            StructType key = new StructType().add("key", spec.key() == null ? DataTypes.NullType : spec.key());
            maps.add(spec.kind().equals("map") ? kernel.mapState(name, key, entry, ttl) : null);
        }
    }

    private StructType entry(DataType value) {
        StructType entry = new StructType().add("value", value);
        return isStamped ? entry.add("written", DataTypes.LongType, false) : entry;
    }

    /** Starts on a key. */
    void begin() {
        Arrays.fill(isLoaded, false);
        Arrays.fill(isChanged, false);
    }

    /** Writes what has changed. */
    void end() {
        for (int i = 0; i < specs.length; i++) {
            if (isChanged[i]) {
                if (loaded[i] == null) {
                    values.get(i).clear();
                } else {
                    values.get(i).update(written(loaded[i]));
                }
            }
        }
    }

    private InternalRow written(Object value) {
        return isStamped ? Rows.of(value, clock.getAsLong()) : Rows.of(value);
    }

    private boolean isOver(int state, InternalRow entry) {
        long ttl = specs[state].ttl();
        return isStamped && ttl > 0 && entry.getLong(1) + ttl <= clock.getAsLong();
    }

    /** What an entry holds; null where it has expired. */
    private Object held(int state, InternalRow entry) {
        return entry == null || isOver(state, entry) ? null : entry.get(0, specs[state].value());
    }

    Object value(int state) {
        if (!isLoaded[state]) {
            loaded[state] = held(state, values.get(state).get());
            isLoaded[state] = true;
        }
        return loaded[state];
    }

    void setValue(int state, Object value) {
        if (value == null && value(state) == null) {
            return;
        }
        loaded[state] = value;
        isLoaded[state] = true;
        isChanged[state] = true;
    }

    Iterable<Object> elements(int state) {
        List<Object> elements = new ArrayList<>();
        for (InternalRow entry : entriesOfList(state)) {
            elements.add(entry.get(0, specs[state].value()));
        }
        return elements;
    }

    private List<InternalRow> entriesOfList(int state) {
        List<InternalRow> entries = new ArrayList<>();
        for (Iterator<InternalRow> stored = lists.get(state).get(); stored.hasNext(); ) {
            InternalRow entry = stored.next().copy();
            if (!isOver(state, entry)) {
                entries.add(entry);
            }
        }
        return entries;
    }

    void append(int state, Object element) {
        lists.get(state).appendValue(written(element));
    }

    Iterable<Map.Entry<Object, Object>> entries(int state) {
        List<Map.Entry<Object, Object>> entries = new ArrayList<>();
        for (Iterator<Tuple2<InternalRow, InternalRow>> stored = maps.get(state).iterator(); stored.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> entry = stored.next();
            InternalRow value = entry._2().copy();
            if (!isOver(state, value)) {
                Object key = entry._1().copy().get(0, specs[state].key());
                entries.add(new SimpleEntry<>(key, value.isNullAt(0) ? null : value.get(0, specs[state].value())));
            }
        }
        return entries;
    }

    boolean contains(int state, Object key) {
        InternalRow entry = maps.get(state).getValue(Rows.of(key));
        return entry != null && !isOver(state, entry);
    }

    Object get(int state, Object key) {
        InternalRow entry = maps.get(state).getValue(Rows.of(key));
        return entry == null || entry.isNullAt(0) ? null : held(state, entry);
    }

    void put(int state, Object key, Object value) {
        maps.get(state).updateValue(Rows.of(key), written(value));
    }

    void remove(int state, Object key) {
        maps.get(state).removeKey(Rows.of(key));
    }

    void clear(int state) {
        switch (specs[state].kind()) {
            case "value" -> setValue(state, null);
            case "list" -> lists.get(state).clear();
            default -> maps.get(state).clear();
        }
    }
}

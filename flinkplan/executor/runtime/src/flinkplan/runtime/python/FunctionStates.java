package flinkplan.runtime.python;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/** What is kept for the keys of a key group: each state a map from keys to what the function keeps, and timers. */
final class FunctionStates {
    private static final String PREFIX = "state-";
    private static final String TIMERS = "timers";

    private static final StructType TIMER = new StructType()
            .add("name", DataTypes.StringType)
            .add("time", DataTypes.LongType, false)
            .add("due", DataTypes.LongType, false);
    private static final DataType TIMERS_TYPE = DataTypes.createArrayType(TIMER, false);
    private static final StructType TIMERS_OF_KEY = new StructType().add(TIMERS, TIMERS_TYPE, false);

    /** A key whose timers wait. */
    private record Waiting(long due, InternalRow key) {}

    private final FunctionCalls.State[] declared;
    private final List<MapState<InternalRow, InternalRow>> states = new ArrayList<>();
    private final MapState<InternalRow, InternalRow> timers;
    private final UnsafeProjection key;
    private final UnsafeProjection[] contents;
    private final UnsafeProjection timersOfKey = UnsafeProjection.create(TIMERS_OF_KEY);
    private PriorityQueue<Waiting> waiting;

    /**
     * @param key the schema of a key
     * @param expires whether entries have a TTL of Spark's
     */
    FunctionStates(Kernel kernel, StructType key, FunctionCalls.State[] declared, boolean expires, boolean keepsTimers) {
        this.declared = declared;
        this.key = UnsafeProjection.create(key);
        contents = new UnsafeProjection[declared.length];
        for (int i = 0; i < declared.length; i++) {
            FunctionCalls.State state = declared[i];
            states.add(kernel.mapState(PREFIX + state.name(), key, state.content(), expires ? state.ttl() : 0));
            contents[i] = UnsafeProjection.create(state.content());
        }
        timers = keepsTimers ? kernel.mapState(TIMERS, key, TIMERS_OF_KEY, 0) : null;
    }

    boolean keepsTimers() {
        return timers != null;
    }

    /** The states, a column each. */
    StructType columns() {
        StructType columns = new StructType();
        for (FunctionCalls.State state : declared) {
            columns = columns.add(state.name(), state.content());
        }
        return columns;
    }

    /** A schema with a column for timers, if there may be any. */
    StructType withTimers(StructType columns) {
        return keepsTimers() ? columns.add(TIMERS, TIMERS_TYPE) : columns;
    }

    /** Begins on another key group. */
    void begin() {
        waiting = null;
    }

    /** Puts what is kept for a key into the columns for states, if there are any, and timers. */
    void read(InternalRow of, Object[] columns, int at) {
        int place = at;
        if (!states.isEmpty()) {
            Object[] kept = new Object[states.size()];
            for (int i = 0; i < kept.length; i++) {
                kept[i] = states.get(i).getValue(of);
            }
            columns[place++] = new GenericInternalRow(kept);
        }
        if (keepsTimers()) {
            InternalRow kept = timers.getValue(of);
            columns[place] = kept == null ? null : kept.getArray(0);
        }
    }

    /**
     * Keeps what has changed for a key.
     *
     * @param changed a bit for each state, and one for timers
     * @param at the first of the row's columns for them
     */
    void write(InternalRow of, long changed, InternalRow row, int at) {
        for (int i = 0; i < states.size(); i++) {
            if ((changed & 1L << i) != 0) {
                int width = declared[i].content().length();
                boolean isEmpty = row.isNullAt(at + i);
                write(states.get(i), of, isEmpty ? null : contents[i].apply(row.getStruct(at + i, width)));
            }
        }
        if (keepsTimers() && (changed & 1L << states.size()) != 0) {
            int last = at + states.size();
            write(timers, of, row.isNullAt(last) ? null : timersOfKey.apply(Rows.of(row.getArray(last))));
        }
    }

    private static void write(MapState<InternalRow, InternalRow> state, InternalRow key, UnsafeRow content) {
        if (content == null) {
            state.removeKey(key);
        } else {
            state.updateValue(key, content.copy());
        }
    }

    // ---------------------------------------------------------------- timers of keys that have not appeared

    /** The next key that has not appeared of those whose timers a watermark fires; null: there is none. */
    InternalRow awake(long reached, Set<InternalRow> appeared) {
        if (waiting == null) {
            waiting = new PriorityQueue<>(Comparator.comparingLong(Waiting::due));
            loadTimers(appeared);
        }
        while (!waiting.isEmpty() && waiting.peek().due() <= reached) {
            InternalRow awake = waiting.poll().key();
            if (!appeared.contains(awake)) {
                return awake;
            }
        }
        return null;
    }

    private void loadTimers(Set<InternalRow> appeared) {
        for (Iterator<Tuple2<InternalRow, InternalRow>> stored = timers.iterator(); stored.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> entry = stored.next();
            ArrayData rows = entry._2().getArray(0);
            long due = Long.MAX_VALUE;
            for (int i = 0; i < rows.numElements(); i++) {
                due = Math.min(due, rows.getStruct(i, TIMER.length()).getLong(2));
            }
            InternalRow copy = key.apply(entry._1()).copy();
            if (!appeared.contains(copy)) {
                waiting.add(new Waiting(due, copy));
            }
        }
    }

    /** What the timers of keys that have not appeared wait for, as far as they have been looked at. */
    long nextOfOthers(Set<InternalRow> appeared) {
        if (waiting == null) {
            return Long.MAX_VALUE;
        }
        while (!waiting.isEmpty() && appeared.contains(waiting.peek().key())) {
            waiting.poll();
        }
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.peek().due();
    }

    /** Whether the timers of all keys have been looked at. */
    boolean knowsAllTimers() {
        return waiting != null || !keepsTimers();
    }
}

package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Reused;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.state.StateVariables;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * How often each row occurs in a group: a map state, of which a batch reads and writes what it touches; without
 * {@code states} in memory only.
 */
final class Multiset {
    private static final StructType COUNT = new StructType().add("count", DataTypes.LongType);

    /** A count as it was stored and as it is now. */
    private static final class Counter {
        final long stored;
        long count;

        Counter(long stored) {
            this.stored = stored;
            this.count = stored;
        }
    }

    private final MapState<InternalRow, InternalRow> state;
    private final UnsafeProjection binary;
    private Map<InternalRow, Counter> counters = new LinkedHashMap<>();
    private boolean complete;

    Multiset(States states, String name, StructType row, long ttl) {
        state = states == null ? null : states.mapState(name, row, COUNT, ttl);
        binary = UnsafeProjection.create(row);
    }

    /** {@code isNew}: nothing is stored of the key. */
    void begin(boolean isNew) {
        counters = Reused.emptied(counters, LinkedHashMap::new);
        complete = state == null || isNew && StateVariables.isUnchanged(state);
    }

    /** Counts a row {@code by} times more; how often it occurs then. */
    long add(InternalRow row, long by) {
        Counter counter = counter(row);
        counter.count += by;
        return counter.count;
    }

    /** Counts a row once, however often it comes; whether it does so for the first time. */
    boolean note(InternalRow row) {
        Counter counter = counter(row);
        boolean isFirst = counter.count == 0;
        if (isFirst) {
            counter.count = 1;
        }
        return isFirst;
    }

    private Counter counter(InternalRow row) {
        InternalRow shared = binary.apply(row);
        Counter counter = counters.get(shared);
        if (counter == null) {
            InternalRow own = shared.copy();
            counter = load(own);
            counters.put(own, counter);
        }
        return counter;
    }

    private Counter load(InternalRow row) {
        InternalRow stored = complete ? null : state.getValue(row);
        return new Counter(stored == null ? 0 : stored.getLong(0));
    }

    /** Goes through the rows that occur. */
    void forEach(ObjLongConsumer<InternalRow> action) {
        if (!complete) {
            for (Iterator<Tuple2<InternalRow, InternalRow>> all = state.iterator(); all.hasNext(); ) {
                Tuple2<InternalRow, InternalRow> next = all.next();
                counters.computeIfAbsent(next._1(), row -> new Counter(next._2().getLong(0)));
            }
            complete = true;
        }
        counters.forEach((row, counter) -> {
            if (counter.count > 0) {
                action.accept(row, counter.count);
            }
        });
    }

    void clear() {
        if (state != null) {
            state.clear();
        }
        counters.clear();
        complete = true;
    }

    void flush() {
        if (state == null) {
            return;
        }
        counters.forEach((row, counter) -> {
            if (counter.count != counter.stored) {
                if (counter.count == 0) {
                    state.removeKey(row);
                } else {
                    state.updateValue(row, Rows.of(counter.count));
                }
            }
        });
    }
}

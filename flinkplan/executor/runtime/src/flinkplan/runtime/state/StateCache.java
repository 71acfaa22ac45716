package flinkplan.runtime.state;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.TTLState;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * The states of an operator in memory for as long as a batch of real-time mode lasts: each is read once, and written
 * when the batch ends, or when they take too much memory.
 *
 * <p>Row by row they would be written as often as rows come, each time with two entries of Spark's index of times to
 * live, of which the outdated ones are in the way of whoever looks for what has expired.
 */
public final class StateCache {
    /** Bytes that a row takes beside its own, roughly. */
    private static final long ROW = 250;

    private final List<CachedKeys<?>> states = new ArrayList<>();
    private final long most;
    private long size;

    /** @param most bytes that rows may take, but for what Java adds to them */
    public StateCache(StatefulProcessorHandleImpl handle, long most) {
        this.most = most;
        handle.ttlStates().add(0, atCleanup());
    }

    /** Has Spark call {@link #flush} before it commits, when it asks states to remove what has expired. */
    private TTLState atCleanup() {
        Class<?>[] types = {TTLState.class};
        return (TTLState) Proxy.newProxyInstance(TTLState.class.getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class) {
                return method.invoke(this, arguments);
            }
            if (!method.getName().equals("clearExpiredStateForAllKeys")) {
                throw new UnsupportedOperationException(method.getName());
            }
            flush();
            return 0L;
        });
    }

    ValueState<InternalRow> value(ValueState<InternalRow> state, StructType value, Lifetime lifetime) {
        return kept(new CachedValue(this, state, value, lifetime));
    }

    ListState<InternalRow> list(ListState<InternalRow> state, StructType element, Lifetime lifetime) {
        return kept(new CachedList(this, state, element, lifetime));
    }

    MapState<InternalRow, InternalRow> map(
            MapState<InternalRow, InternalRow> state, StructType key, StructType value, Lifetime lifetime) {
        return kept(new CachedMap(this, state, key, value, lifetime));
    }

    /** Objects that {@code reading} makes of the states of a key, which {@code writing} updates. */
    public <T> CachedObjects<T> objects(Supplier<T> reading, Consumer<T> writing) {
        CachedObjects<T> objects = new CachedObjects<>(this, reading, writing);
        states.add(0, objects); // before the states that they write
        return objects;
    }

    private <S extends CachedState<?>> S kept(S state) {
        states.add(state);
        return state;
    }

    /** Makes room for a row of so many bytes. */
    void grow(int bytes) {
        size += bytes + ROW;
    }

    /** Forgets all, once there is too much; no state may be in use. */
    public void limit() {
        if (size > most) {
            flush();
        }
    }

    /** Ends with a batch that is committed: by now all is written, which Spark's cleanup has brought about. */
    public void close() {
        if (size > 0) {
            throw new IllegalStateException("states were committed before they were written");
        }
    }

    private void flush() {
        var key = ImplicitGroupingKeyTracker.getImplicitKeyOption();
        states.forEach(CachedKeys::flush);
        size = 0;
        ImplicitGroupingKeyTracker.setImplicitKey(key.isEmpty() ? null : key.get());
    }
}

package flinkplan.runtime.state;

import flinkplan.runtime.Rows;
import java.time.Duration;
import java.util.function.Function;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImplBase;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.TTLState;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * States whose TTL may be changed over a checkpoint, also from or to none.
 *
 * <p>Spark cannot give a TTL to a variable that has had none, and a TTL costs: for each write a read and two entries of
 * an index by time. So each state has two variables, one whose entries expire and one whose entries stay. The TTL says
 * which is written; what is in the other one counts until it is written again.
 */
public final class StateVariables {
    /** What the name of a variable whose entries stay has behind the state's. */
    private static final String LASTING = "-lasting";
    /** Of a variable that is only read and emptied, whose entries keep their expiry. */
    private static final Duration UNUSED = Duration.ofDays(36_500);

    private final StatefulProcessorHandle handle;
    private final boolean mayExpire;

    /** @param mayExpire whether they may, besides, have a TTL at all */
    public StateVariables(StatefulProcessorHandle handle, boolean mayExpire) {
        this.handle = handle;
        this.mayExpire = mayExpire && handle instanceof StatefulProcessorHandleImplBase;
    }

    /** A value that expires {@code ttl} milliseconds after it was written; 0 = never. */
    public ValueState<InternalRow> value(String name, StructType value, long ttl) {
        Encoder<InternalRow> encoder = Rows.stateEncoder(value);
        if (!mayExpire) {
            return handle.getValueState(name, encoder, TTLConfig.NONE());
        }
        ValueState<InternalRow> expiring = handle.getValueState(name, encoder, config(ttl));
        ValueState<InternalRow> lasting = handle.getValueState(name + LASTING, encoder, TTLConfig.NONE());
        return ttl == 0
                ? new ChangedValue(lasting, expired(expiring))
                : new ChangedValue(expiring, left(lasting, expiring, store -> store.iterator(name + LASTING)));
    }

    /** The same of a list, each element of which expires by itself. */
    public ListState<InternalRow> list(String name, StructType element, long ttl) {
        Encoder<InternalRow> encoder = Rows.stateEncoder(element);
        if (!mayExpire) {
            return handle.getListState(name, encoder, TTLConfig.NONE());
        }
        ListState<InternalRow> expiring = handle.getListState(name, encoder, config(ttl));
        ListState<InternalRow> lasting = handle.getListState(name + LASTING, encoder, TTLConfig.NONE());
        return ttl == 0
                ? new ChangedList(lasting, expired(expiring))
                : new ChangedList(
                        expiring, left(lasting, expiring, store -> store.iteratorWithMultiValues(name + LASTING)));
    }

    /** The same of a map, each entry of which expires by itself. */
    public MapState<InternalRow, InternalRow> map(String name, StructType key, StructType value, long ttl) {
        Encoder<InternalRow> keys = Rows.stateEncoder(key);
        Encoder<InternalRow> values = Rows.stateEncoder(value);
        if (!mayExpire) {
            return handle.getMapState(name, keys, values, TTLConfig.NONE());
        }
        MapState<InternalRow, InternalRow> expiring = handle.getMapState(name, keys, values, config(ttl));
        MapState<InternalRow, InternalRow> lasting =
                handle.getMapState(name + LASTING, keys, values, TTLConfig.NONE());
        return ttl == 0
                ? new ChangedMap(lasting, expired(expiring))
                : new ChangedMap(expiring, left(lasting, expiring, store -> store.iterator(name + LASTING)));
    }

    private static TTLConfig config(long ttl) {
        return TTLConfig.apply(ttl == 0 ? UNUSED : Duration.ofMillis(ttl));
    }

    private static <S> Former<S> expired(S expiring) {
        return new Former<>(expiring, () -> ((TTLState) expiring).getTTLRows().isEmpty());
    }

    private static <S> Former<S> left(
            S lasting, S expiring, Function<StateStore, scala.collection.Iterator<?>> entries) {
        return new Former<>(lasting, () -> entries.apply(((TTLState) expiring).store()).isEmpty());
    }
}

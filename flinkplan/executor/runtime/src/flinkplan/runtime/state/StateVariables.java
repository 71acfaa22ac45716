package flinkplan.runtime.state;

import flinkplan.runtime.row.Rows;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.avro.generic.GenericData;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImplBase;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.MapStateImplWithTTL;
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
    /** What Spark calls the index by time of a variable whose entries expire, before the name of the variable. */
    private static final String INDEX = "$ttl_";
    /** Of a variable that is only read and emptied, whose entries keep their expiry; Spark takes no TTL away. */
    private static final TTLConfig UNUSED = TTLConfig.apply(Duration.ofDays(36_500));

    static {
        // Spark makes an Avro reader for each value: a fast one is composed anew each time, others go by what is kept
        GenericData.get().setFastReaderEnabled(false);
    }

    private final Variables variables;
    private final boolean mayExpire;
    private final StateCache cache;
    private final StateEncoders encoders;

    /**
     * @param variables opens the variables at {@code handle}
     * @param mayExpire whether the time that timers go by lets them have a TTL
     * @param cache what keeps in memory that is written; null: nothing
     */
    public StateVariables(
            StatefulProcessorHandle handle, Variables variables, boolean mayExpire, StateCache cache) {
        this.variables = variables;
        this.cache = cache;
        this.encoders = StateEncoders.of(handle, variables.opensAll());
        this.mayExpire = mayExpire && handle instanceof StatefulProcessorHandleImplBase;
    }

    /** A value that expires {@code ttl} milliseconds after it was written; 0 = never. */
    public ValueState<InternalRow> value(String name, StructType value, long ttl) {
        Encoder<InternalRow> encoder = Rows.stateEncoder(value);
        Lifetime lifetime = new Lifetime(ttl);
        if (!mayExpire) {
            return written(lastingValue(name, value, encoder), value, new Lifetime(0));
        }
        if (ttl == 0) {
            ValueState<InternalRow> expiring =
                    former(INDEX + name, () -> variables.value(name, value, encoder, UNUSED));
            return new ChangedValue(written(lastingValue(name + LASTING, value, encoder), value, lifetime), expiring);
        }
        ValueState<InternalRow> expiring = variables.value(name, value, encoder, lifetime);
        ValueState<InternalRow> lasting = former(name + LASTING, () -> lastingValue(name + LASTING, value, encoder));
        return new ChangedValue(written(expiring, value, lifetime), lasting);
    }

    private ValueState<InternalRow> lastingValue(String name, StructType value, Encoder<InternalRow> encoder) {
        Supplier<ValueState<InternalRow>> spark = () -> variables.value(name, value, encoder, TTLConfig.NONE());
        return encoders == null ? spark.get() : encoders.value(name, encoder, spark);
    }

    private ValueState<InternalRow> written(ValueState<InternalRow> state, StructType value, Lifetime lifetime) {
        return cache == null ? state : cache.value(state, value, lifetime);
    }

    /** The same of a list, each element of which expires by itself. */
    public ListState<InternalRow> list(String name, StructType element, long ttl) {
        Encoder<InternalRow> encoder = Rows.stateEncoder(element);
        Lifetime lifetime = new Lifetime(ttl);
        if (!mayExpire) {
            return written(lastingList(name, element, encoder), element, new Lifetime(0));
        }
        if (ttl == 0) {
            ListState<InternalRow> expiring =
                    former(INDEX + name, () -> variables.list(name, element, encoder, UNUSED));
            return new ChangedList(written(lastingList(name + LASTING, element, encoder), element, lifetime), expiring);
        }
        ListState<InternalRow> expiring = variables.list(name, element, encoder, lifetime);
        ListState<InternalRow> lasting = former(name + LASTING, () -> lastingList(name + LASTING, element, encoder));
        return new ChangedList(written(expiring, element, lifetime), lasting);
    }

    private ListState<InternalRow> lastingList(String name, StructType element, Encoder<InternalRow> encoder) {
        Supplier<ListState<InternalRow>> spark = () -> variables.list(name, element, encoder, TTLConfig.NONE());
        return encoders == null ? spark.get() : encoders.list(name, encoder, spark);
    }

    private ListState<InternalRow> written(ListState<InternalRow> state, StructType element, Lifetime lifetime) {
        return cache == null ? state : cache.list(state, element, lifetime);
    }

    /** The same of a map, each entry of which expires by itself. */
    public MapState<InternalRow, InternalRow> map(String name, StructType key, StructType value, long ttl) {
        Encoder<InternalRow> keys = Rows.stateEncoder(key);
        Encoder<InternalRow> values = Rows.stateEncoder(value);
        Lifetime lifetime = new Lifetime(ttl);
        if (!mayExpire) {
            return written(lastingMap(name, key, value, keys, values), key, value, new Lifetime(0));
        }
        if (ttl == 0) {
            MapState<InternalRow, InternalRow> expiring =
                    former(INDEX + name, () -> variables.map(name, key, value, keys, values, UNUSED));
            MapState<InternalRow, InternalRow> lasting = lastingMap(name + LASTING, key, value, keys, values);
            return new ChangedMap(written(lasting, key, value, lifetime), expiring);
        }
        MapState<InternalRow, InternalRow> expiring = variables.map(name, key, value, keys, values, lifetime);
        MapState<InternalRow, InternalRow> lasting =
                former(name + LASTING, () -> lastingMap(name + LASTING, key, value, keys, values));
        return new ChangedMap(written(expiring, key, value, lifetime), lasting);
    }

    private MapState<InternalRow, InternalRow> lastingMap(
            String name, StructType key, StructType value, Encoder<InternalRow> keys, Encoder<InternalRow> values) {
        Supplier<MapState<InternalRow, InternalRow>> spark =
                () -> variables.map(name, key, value, keys, values, TTLConfig.NONE());
        return encoders == null ? spark.get() : encoders.map(name, keys, values, spark);
    }

    private MapState<InternalRow, InternalRow> written(
            MapState<InternalRow, InternalRow> state, StructType key, StructType value, Lifetime lifetime) {
        return cache == null ? state : cache.map(state, key, value, lifetime);
    }

    /**
     * Removes an entry that Spark is at the key of, with that in its index by time. Spark leaves the latter there, and
     * would remove an entry by it that has come again since.
     */
    static void remove(MapState<InternalRow, InternalRow> state, InternalRow key) {
        if (state instanceof MapStateImplWithTTL<InternalRow, InternalRow> expiring) {
            // the name that Scala gives what is private to Spark's package
            var encoder =
                    expiring.org$apache$spark$sql$execution$streaming$operators$stateful$transformwithstate$ttl$MapStateImplWithTTL$$stateTypesEncoder();
            expiring.clearAllStateForElementKey(encoder.encodeCompositeKey(key));
        } else {
            state.removeKey(key);
        }
    }

    /** Whether nothing of a map is in a variable of another TTL than the present one. */
    public static boolean isUnchanged(MapState<InternalRow, InternalRow> map) {
        return !(map instanceof ChangedMap changed) || !changed.hasFormer();
    }

    /**
     * The variable of another TTL than the present one; null where it holds nothing, of any key. It never gains.
     *
     * @param entries the column family in which it has an entry if it holds anything
     */
    private <S> S former(String entries, Supplier<S> open) {
        return encoders != null && encoders.isUnused(entries) ? null : open.get();
    }
}

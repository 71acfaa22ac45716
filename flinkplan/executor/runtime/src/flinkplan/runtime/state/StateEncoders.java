package flinkplan.runtime.state;

import flinkplan.runtime.row.Rows;
import java.util.function.Supplier;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateVariableUtils;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.ListStateImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.MapStateImpl;
import org.apache.spark.sql.execution.streaming.state.AvroStateEncoder;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.MultiValuedStateEncoder;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBKeyStateEncoder;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateEncoder;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.RocksDBValueStateEncoder;
import org.apache.spark.sql.execution.streaming.state.StateSchemaProvider;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.Tuple3;
import scala.collection.immutable.Map;

/** The state store of a task, with a {@link StateEncoder} for each of its variables in place of Spark's own. */
public final class StateEncoders {
    private final RocksDBStateStoreProvider.RocksDBStateStore store;
    private final boolean opensAll;
    private final ExpressionEncoder<Object> keyEncoder;
    private final boolean packsKeys;
    private final Map<String, SQLMetric> metrics;
    private final StateCounts counts;

    private StateEncoders(
            RocksDBStateStoreProvider.RocksDBStateStore store,
            Encoder<InternalRow> keys,
            Map<String, SQLMetric> metrics,
            boolean opensAll) {
        this.store = store;
        this.opensAll = opensAll;
        this.keyEncoder = any(keys);
        this.packsKeys = Rows.packs(keys);
        this.metrics = metrics;
        this.counts = new StateCounts(metrics);
    }

    /**
     * Those of an operator's handle; null where it has no state store of the kind that is known.
     *
     * @param opensAll whether Spark's variables are opened in any case
     */
    @SuppressWarnings("unchecked")
    public static StateEncoders of(StatefulProcessorHandle handle, boolean opensAll) {
        if (!(handle instanceof StatefulProcessorHandleImpl)
                || !(Fields.get(handle, "store") instanceof RocksDBStateStoreProvider.RocksDBStateStore store)) {
            return null;
        }
        Encoder<InternalRow> keys = (Encoder<InternalRow>) Fields.get(handle, "keyEncoder");
        return new StateEncoders(store, keys, (Map<String, SQLMetric>) Fields.get(handle, "metrics"), opensAll);
    }

    /** Whether a variable that is not written can be left out: where a column family, if it is there, has no entry. */
    boolean isUnused(String columnFamily) {
        return !opensAll && isEmpty(columnFamily);
    }

    private boolean isEmpty(String columnFamily) {
        RocksDB rocksDB = store.dbInstance();
        if (!rocksDB.checkColFamilyExists(columnFamily)) {
            return true;
        }
        var entries = rocksDB.iterator(columnFamily);
        boolean isEmpty = !entries.hasNext();
        entries.closeIfNeeded();
        return isEmpty;
    }

    /** A value that does not expire; {@code spark} opens Spark's variable, unless it is known what stands for that. */
    ValueState<InternalRow> value(
            String name, Encoder<InternalRow> values, Supplier<ValueState<InternalRow>> spark) {
        StateEncoder known = opensAll ? null : known(name, values);
        if (known != null) {
            return new StoredValue(store.dbInstance(), name, counts, known);
        }
        ValueState<InternalRow> opened = spark.get();
        StateEncoder encoder = encoder(name, values);
        return encoder == null ? opened : new StoredValue(store.dbInstance(), name, counts, encoder);
    }

    /** The same of a list. */
    ListState<InternalRow> list(
            String name, Encoder<InternalRow> elements, Supplier<ListState<InternalRow>> spark) {
        StateEncoder known = opensAll ? null : known(name, elements);
        if (known != null) {
            return stored(
                    name,
                    known,
                    () -> WithoutDefaults.call(
                            () -> new ListStateImpl<>(store, name, keyEncoder, any(elements), metrics)));
        }
        ListState<InternalRow> opened = spark.get();
        StateEncoder encoder = encoder(name, elements);
        return encoder == null ? opened : stored(name, encoder, () -> opened);
    }

    private ListState<InternalRow> stored(String name, StateEncoder encoder, Supplier<ListState<InternalRow>> spark) {
        String counter = TransformWithStateVariableUtils.getRowCounterCFName(name);
        return new StoredList(store.dbInstance(), name, counts, encoder, spark, () -> isEmpty(counter));
    }

    /** The same of a map. */
    MapState<InternalRow, InternalRow> map(
            String name,
            Encoder<InternalRow> keys,
            Encoder<InternalRow> values,
            Supplier<MapState<InternalRow, InternalRow>> spark) {
        StateEncoder known = opensAll || Rows.packs(keys) ? null : known(name, values);
        if (known != null) {
            return new StoredMap(
                    store.dbInstance(),
                    name,
                    counts,
                    known,
                    () -> WithoutDefaults.call(
                            () -> new MapStateImpl<>(store, name, keyEncoder, any(keys), any(values), metrics)));
        }
        MapState<InternalRow, InternalRow> opened = spark.get();
        StateEncoder encoder = Rows.packs(keys) ? null : encoder(name, values);
        return encoder == null ? opened : new StoredMap(store.dbInstance(), name, counts, encoder, () -> opened);
    }

    /** An encoder as the constructors of Spark's variables take it, whatever their rows are. */
    @SuppressWarnings("unchecked")
    private static ExpressionEncoder<Object> any(Encoder<InternalRow> rows) {
        return (ExpressionEncoder<Object>) (Encoder<?>) rows;
    }

    /** That of a variable, once it has been opened, where rows can be written without others in between. */
    private StateEncoder encoder(String name, Encoder<InternalRow> values) {
        useForAll();
        return known(name, values);
    }

    /** The same as long as Spark keeps the store loaded in which a task has opened the variable; otherwise null. */
    private StateEncoder known(String name, Encoder<InternalRow> values) {
        var present = encoders().get(name);
        boolean isOurs = present != null
                && Fields.get(present._1(), "dataEncoder") instanceof StateEncoder
                && store.dbInstance().checkColFamilyExists(name);
        StateEncoder encoder = isOurs ? (StateEncoder) Fields.get(present._1(), "dataEncoder") : null;
        return packsKeys || Rows.packs(values) || encoder == null || !encoder.knowsAll() ? null : encoder;
    }

    // the names that Scala gives what is private to a class and read by classes within it
    private java.util.Map<String, Tuple3<RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Object>> encoders() {
        return store.creatingProvider()
                .org$apache$spark$sql$execution$streaming$state$RocksDBStateStoreProvider$$keyValueEncoderMap();
    }

    /** Puts ours in place of Spark's for all variables that are open: once, as Spark keeps them while a store is loaded. */
    public void useForAll() {
        var schemas = store.creatingProvider()
                .org$apache$spark$sql$execution$streaming$state$RocksDBStateStoreProvider$$stateSchemaProvider();
        if (schemas.isDefined()) {
            int delimiter = store.dbInstance().delimiterSize();
            encoders().replaceAll((variable, present) -> replaced(variable, present, schemas.get(), delimiter));
        }
    }

    private static Tuple3<RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Object> replaced(
            String variable,
            Tuple3<RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Object> present,
            StateSchemaProvider schemas,
            int delimiter) {
        if (!(Fields.get(present._1(), "dataEncoder") instanceof AvroStateEncoder spark)) {
            return present;
        }
        KeyStateEncoderSpec spec = (KeyStateEncoderSpec) Fields.get(spark, "keyStateEncoderSpec");
        StructType valueSchema = (StructType) Fields.get(spark, "valueSchema");
        StateEncoder encoder = new StateEncoder(spark, spec, valueSchema, schemas, variable);
        boolean isList = present._2() instanceof MultiValuedStateEncoder;
        return new Tuple3<>(
                RocksDBStateEncoder.getKeyEncoder(encoder, spec, true),
                RocksDBStateEncoder.getValueEncoder(encoder, valueSchema, isList, delimiter),
                present._3());
    }
}

package flinkplan.runtime.state;

import flinkplan.runtime.row.Rows;
import java.lang.reflect.Field;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateVariableUtils;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.state.AvroStateEncoder;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.MultiValuedStateEncoder;
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
    private final boolean packsKeys;
    private final StateCounts counts;

    private StateEncoders(
            RocksDBStateStoreProvider.RocksDBStateStore store, boolean packsKeys, Map<String, SQLMetric> metrics) {
        this.store = store;
        this.packsKeys = packsKeys;
        this.counts = new StateCounts(metrics);
    }

    /** Those of an operator's handle; null where it has no state store of the kind that is known. */
    @SuppressWarnings("unchecked")
    public static StateEncoders of(StatefulProcessorHandle handle) {
        if (!(handle instanceof StatefulProcessorHandleImpl)
                || !(field(handle, "store") instanceof RocksDBStateStoreProvider.RocksDBStateStore store)) {
            return null;
        }
        boolean packsKeys = Rows.packs((Encoder<InternalRow>) field(handle, "keyEncoder"));
        return new StateEncoders(store, packsKeys, (Map<String, SQLMetric>) field(handle, "metrics"));
    }

    /** A value that does not expire, which {@code spark} stands for. */
    ValueState<InternalRow> value(String name, Encoder<InternalRow> values, ValueState<InternalRow> spark) {
        StateEncoder encoder = encoder(name, values);
        return encoder == null ? spark : new StoredValue(store.dbInstance(), name, counts, encoder);
    }

    /** The same of a list. */
    ListState<InternalRow> list(String name, Encoder<InternalRow> elements, ListState<InternalRow> spark) {
        StateEncoder encoder = encoder(name, elements);
        String counts = TransformWithStateVariableUtils.getRowCounterCFName(name);
        return encoder == null
                ? spark
                : new StoredList(store.dbInstance(), name, this.counts, encoder, spark, () -> store.iterator(counts)
                        .isEmpty());
    }

    /** The same of a map. */
    MapState<InternalRow, InternalRow> map(
            String name,
            Encoder<InternalRow> keys,
            Encoder<InternalRow> values,
            MapState<InternalRow, InternalRow> spark) {
        StateEncoder encoder = Rows.packs(keys) ? null : encoder(name, values);
        return encoder == null ? spark : new StoredMap(store.dbInstance(), name, counts, encoder, spark);
    }

    /** That of a variable, where the rows that kernels have can be written without others in between. */
    private StateEncoder encoder(String name, Encoder<InternalRow> values) {
        useForAll();
        var present = encoders().get(name);
        boolean isOurs = present != null && field(present._1(), "dataEncoder") instanceof StateEncoder;
        StateEncoder encoder = isOurs ? (StateEncoder) field(present._1(), "dataEncoder") : null;
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
        if (!(field(present._1(), "dataEncoder") instanceof AvroStateEncoder spark)) {
            return present;
        }
        KeyStateEncoderSpec spec = (KeyStateEncoderSpec) field(spark, "keyStateEncoderSpec");
        StructType valueSchema = (StructType) field(spark, "valueSchema");
        StateEncoder encoder = new StateEncoder(spark, spec, valueSchema, schemas, variable);
        boolean isList = present._2() instanceof MultiValuedStateEncoder;
        return new Tuple3<>(
                RocksDBStateEncoder.getKeyEncoder(encoder, spec, true),
                RocksDBStateEncoder.getValueEncoder(encoder, valueSchema, isList, delimiter),
                present._3());
    }

    private static Object field(Object owner, String name) {
        try {
            Field field = owner.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(owner);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Spark's state store is not the one that is known", e);
        }
    }
}

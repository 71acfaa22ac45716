package flinkplan.bridge;

import flinkplan.functions.Methods;
import flinkplan.runtime.udf.AggregateCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.runtime.typeutils.InternalSerializers;
import org.apache.flink.table.types.DataType;

/** A call of an aggregate function; accumulators are saved by Flink's serializer of their type. */
final class Aggregate implements AggregateCall {
    private static final int BUFFER = 128;

    private final Calls.Prepared call;
    private final AggregateFunction<Object, Object> function;
    private final DataStructureConverter<Object, Object> converter;
    private final TypeSerializer<Object> serializer;
    private final MethodHandle accumulate;
    private final MethodHandle retract;
    private final MethodHandle merge;
    private final DataOutputSerializer output = new DataOutputSerializer(BUFFER);
    private Object accumulator;

    @SuppressWarnings("unchecked")
    Aggregate(Calls.Prepared call, AggregateFunction<?, ?> function) {
        this.call = call;
        this.function = (AggregateFunction<Object, Object>) function;
        DataType type = call.types.getStateInfos().values().iterator().next().getDataType();
        converter = DataStructureConverters.getConverter(type);
        converter.open(call.classes);
        serializer = (TypeSerializer<Object>) (TypeSerializer<?>) InternalSerializers.create(type.getLogicalType());
        List<Class<?>> classes = new ArrayList<>(List.of(type.getConversionClass()));
        call.arguments.stream().map(DataType::getConversionClass).forEach(classes::add);
        accumulate = method("accumulate", classes);
        retract = method("retract", classes);
        merge = method("merge", List.of(type.getConversionClass(), Iterable.class));
        if (accumulate == null) {
            throw new IllegalArgumentException(function.getClass().getName() + " has no method accumulate for " + classes);
        }
    }

    private MethodHandle method(String name, List<Class<?>> classes) {
        try {
            return Methods.bound(function, name, classes).asSpreader(Object[].class, classes.size());
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    @Override
    public void reset() {
        accumulator = function.createAccumulator();
    }

    @Override
    public void load(byte[] saved) {
        accumulator = restored(saved);
    }

    private Object restored(byte[] saved) {
        try {
            return converter.toExternalOrNull(serializer.deserialize(new DataInputDeserializer(saved)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public byte[] save() {
        output.clear();
        try {
            serializer.serialize(converter.toInternalOrNull(accumulator), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return output.getCopyOfBuffer();
    }

    @Override
    public void accumulate(Object[] arguments) {
        apply(accumulate, "accumulate", arguments);
    }

    @Override
    public void retract(Object[] arguments) {
        apply(retract, "retract", arguments);
    }

    private void apply(MethodHandle method, String name, Object[] arguments) {
        check(method, name);
        Object[] values = new Object[arguments.length + 1];
        values[0] = accumulator;
        for (int i = 0; i < arguments.length; i++) {
            values[i + 1] = call.argument(i, arguments[i]);
        }
        invoke(method, values);
    }

    private void check(MethodHandle method, String name) {
        if (method == null) {
            throw new IllegalStateException(function.getClass().getName() + " has no method " + name + " for these types");
        }
    }

    private void invoke(MethodHandle method, Object[] values) {
        try {
            Object ignored = (Object) method.invokeExact(values);
        } catch (Throwable e) { // whatever the function raises
            throw call.failed(e);
        }
    }

    @Override
    public void merge(byte[] saved) {
        check(merge, "merge");
        invoke(merge, new Object[] {accumulator, List.of(restored(saved))});
    }

    @Override
    public Object value() {
        try {
            return call.result.toSparkOrNull(function.getValue(accumulator));
        } catch (Throwable e) { // whatever the function raises
            throw call.failed(e);
        }
    }

    @Override
    public void close() {
        call.close();
    }
}

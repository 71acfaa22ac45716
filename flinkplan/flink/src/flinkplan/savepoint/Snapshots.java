package flinkplan.savepoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.table.runtime.operators.window.TimeWindow;
import org.apache.flink.table.runtime.typeutils.ExternalSerializer;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.DataTypeUtils;

/** Serializers in a manifest: by their snapshots, as a savepoint had them, or by what they are made of. */
final class Snapshots {
    private Snapshots() {}

    /** Puts a serializer's snapshot into a node, unless there is none. */
    static void put(ObjectNode node, String name, TypeSerializer<?> serializer) throws IOException {
        if (serializer == null) {
            return;
        }
        DataOutputSerializer out = new DataOutputSerializer(512);
        TypeSerializerSnapshot.writeVersionedSnapshot(out, serializer.snapshotConfiguration());
        node.put(name, Base64.getEncoder().encodeToString(out.getCopyOfBuffer()));
    }

    /**
     * Reads a serializer: a snapshot in base 64, or an object with one key.
     *
     * <p>These are {@code row} (types), {@code external} (a type), {@code list}, {@code map} (key and value), {@code
     * tuple} (serializers), {@code ttl} and {@code timer} (key and namespace); {@code boolean}, {@code long}, {@code
     * int}, {@code window} and {@code void} need nothing else.
     */
    static TypeSerializer<?> read(JsonNode node, ClassLoader classes) throws IOException {
        if (node == null || node.isNull()) {
            return null;
        }
        if (node.isTextual()) {
            byte[] bytes = Base64.getDecoder().decode(node.asText());
            return TypeSerializerSnapshot.readVersionedSnapshot(new DataInputDeserializer(bytes), classes)
                    .restoreSerializer();
        }
        String name = node.fieldNames().next();
        JsonNode parts = node.get(name);
        return switch (name) {
            case "boolean" -> BooleanSerializer.INSTANCE;
            case "int" -> IntSerializer.INSTANCE;
            case "long" -> LongSerializer.INSTANCE;
            case "void" -> VoidNamespaceSerializer.INSTANCE;
            case "window" -> new TimeWindow.Serializer();
            case "row" -> {
                List<LogicalType> types = new ArrayList<>();
                for (JsonNode type : parts) {
                    types.add(type(type, classes));
                }
                yield new RowDataSerializer(types.toArray(new LogicalType[0]));
            }
            case "external" -> ExternalSerializer.of(DataTypeUtils.toInternalDataType(type(parts, classes)));
            case "list" -> new ListSerializer<>(read(parts, classes));
            case "map" -> new MapSerializer<>(read(parts.get(0), classes), read(parts.get(1), classes));
            case "tuple" -> tuple(parts, classes);
            case "ttl" -> new TtlStateFactory.TtlSerializer<>(LongSerializer.INSTANCE, read(parts, classes));
            case "timer" -> new TimerSerializer<>(read(parts.get(0), classes), read(parts.get(1), classes));
            default -> throw new UnreadableException("there is no serializer " + name);
        };
    }

    private static LogicalType type(JsonNode text, ClassLoader classes) {
        return LogicalTypeParser.parse(text.asText(), classes);
    }

    @SuppressWarnings("unchecked")
    private static TypeSerializer<?> tuple(JsonNode parts, ClassLoader classes) throws IOException {
        List<TypeSerializer<?>> fields = new ArrayList<>();
        for (JsonNode part : parts) {
            fields.add(read(part, classes));
        }
        Class<Tuple> cls = (Class<Tuple>) Tuple.getTupleClass(fields.size());
        return new TupleSerializer<>(cls, fields.toArray(new TypeSerializer<?>[0]));
    }
}

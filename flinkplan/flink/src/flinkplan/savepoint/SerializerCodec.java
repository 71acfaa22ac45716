package flinkplan.savepoint;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeutils.CompositeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.ByteSerializer;
import org.apache.flink.api.common.typeutils.base.DoubleSerializer;
import org.apache.flink.api.common.typeutils.base.FloatSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.operators.window.TimeWindow;
import org.apache.flink.table.runtime.typeutils.DecimalDataSerializer;
import org.apache.flink.table.runtime.typeutils.ExternalSerializer;
import org.apache.flink.table.runtime.typeutils.LinkedListSerializer;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.runtime.typeutils.SortedMapSerializer;
import org.apache.flink.table.runtime.typeutils.StringDataSerializer;
import org.apache.flink.table.runtime.typeutils.TimestampDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;

/** Codecs by the serializers that a savepoint names. */
final class SerializerCodec {
    private SerializerCodec() {}

    /** The codec of a serializer; that of an unknown one carries its bytes. */
    static Codec of(TypeSerializer<?> serializer) {
        try {
            return known(serializer);
        } catch (UnreadableException e) {
            return new Opaque(serializer);
        }
    }

    /** The codec of a key's serializer: rows without their row kind, which is always +I. */
    static Codec ofKey(TypeSerializer<?> serializer) {
        try {
            return serializer instanceof RowDataSerializer rows ? rows(rows, false) : known(serializer);
        } catch (UnreadableException e) {
            return new Opaque(serializer);
        }
    }

    private static Codec rows(RowDataSerializer rows, boolean hasKind) throws UnreadableException {
        LogicalType[] types = field(RowDataSerializer.class, "types", rows, LogicalType[].class);
        List<String> names = IntStream.range(0, types.length).mapToObj(i -> "f" + i).toList();
        return new Plain(rows, new NestedCodecs.Rows(names, List.of(types), hasKind));
    }

    private static Codec known(TypeSerializer<?> s) throws UnreadableException {
        if (s instanceof RowDataSerializer rows) {
            return rows(rows, true);
        }
        if (s instanceof ExternalSerializer<?, ?> external) {
            TypeSerializer<?> internal =
                    field(ExternalSerializer.class, "internalSerializer", external, TypeSerializer.class);
            LogicalType type = external.getDataType().getLogicalType();
            if (internal instanceof RowDataSerializer && type.getTypeRoot().name().equals("ROW")) {
                var row = (org.apache.flink.table.types.logical.RowType) type;
                return new Plain(internal, new NestedCodecs.Rows(row.getFieldNames(), row.getChildren(), true));
            }
            return new Plain(internal, DataCodec.of(type));
        }
        if (s instanceof ListSerializer<?> list) {
            return new CompositeCodecs.Lists(of(list.getElementSerializer()));
        }
        if (s instanceof SortedMapSerializer<?, ?> map) {
            return new CompositeCodecs.Maps(of(map.getKeySerializer()), of(map.getValueSerializer()));
        }
        if (s instanceof MapSerializer<?, ?> map) {
            return new CompositeCodecs.Maps(of(map.getKeySerializer()), of(map.getValueSerializer()));
        }
        if (s instanceof LinkedListSerializer<?> list) {
            return new CompositeCodecs.Linked(s, of(list.getElementSerializer()));
        }
        if (s instanceof TupleSerializer<?> tuple) {
            List<Codec> fields = new ArrayList<>();
            for (TypeSerializer<?> each : tuple.getFieldSerializers()) {
                fields.add(of(each));
            }
            return new CompositeCodecs.Tuples(fields);
        }
        if (s instanceof TimeWindow.Serializer) {
            return new CompositeCodecs.Windows();
        }
        Codec ofPattern = PatternCodecs.of(s);
        if (ofPattern != null) {
            return ofPattern;
        }
        if (s instanceof VoidNamespaceSerializer) {
            return new Plain(s, new NestedCodecs.Rows(List.of(), List.of(), false));
        }
        if (s.getClass().getName().equals("org.apache.flink.api.common.typeutils.base.BitmapSerializer")) {
            return new Plain(s, new ScalarCodecs.Bitmaps());
        }
        return new Plain(s, DataCodec.of(simple(s)));
    }

    private static LogicalType simple(TypeSerializer<?> s) throws UnreadableException {
        if (s instanceof LongSerializer) {
            return new BigIntType();
        }
        if (s instanceof IntSerializer) {
            return new IntType();
        }
        if (s instanceof ShortSerializer) {
            return new SmallIntType();
        }
        if (s instanceof ByteSerializer) {
            return new TinyIntType();
        }
        if (s instanceof BooleanSerializer) {
            return new BooleanType();
        }
        if (s instanceof DoubleSerializer) {
            return new DoubleType();
        }
        if (s instanceof FloatSerializer) {
            return new FloatType();
        }
        if (s instanceof StringSerializer || s instanceof StringDataSerializer) {
            return new VarCharType(VarCharType.MAX_LENGTH);
        }
        if (s instanceof BytePrimitiveArraySerializer) {
            return new VarBinaryType(VarBinaryType.MAX_LENGTH);
        }
        if (s instanceof DecimalDataSerializer decimals) {
            return new DecimalType(
                    field(DecimalDataSerializer.class, "precision", decimals, Integer.class),
                    field(DecimalDataSerializer.class, "scale", decimals, Integer.class));
        }
        if (s instanceof TimestampDataSerializer times) {
            return new TimestampType(field(TimestampDataSerializer.class, "precision", times, Integer.class));
        }
        throw new UnreadableException("the serializer " + s.getClass().getName() + " is not decoded");
    }

    /** The value of a private field. */
    static <T> T field(Class<?> cls, String name, Object owner, Class<T> type) throws UnreadableException {
        try {
            Field field = cls.getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(owner));
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new UnreadableException("this release of Flink has another " + cls.getSimpleName());
        }
    }

    /** Whether a value is wrapped together with the time of its last access. */
    static boolean hasTtl(TypeSerializer<?> serializer) {
        return serializer.getClass().getName().equals("org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializer");
    }

    /** The serializer of the value within one with the time of its last access. */
    static TypeSerializer<?> withoutTtl(TypeSerializer<?> serializer) throws UnreadableException {
        TypeSerializer<?>[] parts =
                field(CompositeSerializer.class, "fieldSerializers", serializer, TypeSerializer[].class);
        return parts[1];
    }

    /** Values that a serializer reads and a type of SQL describes. */
    private static final class Plain extends Codec {
        private final TypeSerializer<Object> serializer;
        private final Codec data;

        @SuppressWarnings("unchecked")
        Plain(TypeSerializer<?> serializer, Codec data) {
            this.serializer = (TypeSerializer<Object>) serializer;
            this.data = data;
        }

        @Override
        String type() {
            return data.type();
        }

        @Override
        Vector vector() {
            return data.vector();
        }

        @Override
        Object read(DataInputView in) throws IOException {
            return serializer.deserialize(in);
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            serializer.serialize(value, out);
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Object value = data.present(column, row);
            Object reader = serializer;
            if (reader instanceof StringSerializer) {
                return value.toString();
            }
            return reader instanceof RowDataSerializer rows ? rows.toBinaryRow((RowData) value).copy() : value;
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            data.append(value, column);
        }

        @Override
        List<Codec.Field> fields() {
            return data.fields();
        }

        @Override
        boolean isRow() {
            return data.isRow();
        }

        @Override
        String opaque() {
            return data.opaque();
        }
    }

    /** Values that are not decoded: what the serializer wrote. */
    private static final class Opaque extends Codec {
        private final TypeSerializer<?> serializer;
        private final DataOutputSerializer copied = new DataOutputSerializer(256);

        Opaque(TypeSerializer<?> serializer) {
            this.serializer = serializer;
        }

        @Override
        String type() {
            return "VARBINARY(2147483647)";
        }

        @Override
        String opaque() {
            return serializer.getClass().getName();
        }

        @Override
        Vector vector() {
            return new Vector.Bytes();
        }

        @Override
        Object read(DataInputView in) throws IOException {
            copied.clear();
            serializer.copy(in, copied);
            return copied.getCopyOfBuffer();
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            out.write((byte[]) value);
        }

        @Override
        Object present(Vector column, int row) {
            return ((Vector.Bytes) column).get(row);
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
            } else {
                ((Vector.Bytes) column).append((byte[]) value);
            }
        }
    }
}

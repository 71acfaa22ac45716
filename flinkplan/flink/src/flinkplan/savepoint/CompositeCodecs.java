package flinkplan.savepoint;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.table.types.logical.BigIntType;

/** Codecs of values that are made of others: lists, maps, tuples and windows. */
final class CompositeCodecs {
    private CompositeCodecs() {}

    static final class Lists extends Codec {
        private final Codec element;

        Lists(Codec element) {
            this.element = element;
        }

        @Override
        String type() {
            return "ARRAY<" + element.type() + ">";
        }

        @Override
        Vector vector() {
            return new Vector.Lists(element.vector());
        }

        @Override
        Object read(DataInputView in) throws IOException {
            int size = in.readInt();
            List<Object> elements = new ArrayList<>(Math.min(size, 1024));
            for (int i = 0; i < size; i++) {
                elements.add(element.read(in));
            }
            return elements;
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            List<?> elements = (List<?>) value;
            out.writeInt(elements.size());
            for (Object each : elements) {
                element.write(each, out);
            }
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            return elements(element, column, row);
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            appendAll((Iterable<?>) value, element, column);
        }
    }

    private static List<Object> elements(Codec element, Vector column, int row) throws IOException {
        Vector.Lists lists = (Vector.Lists) column;
        List<Object> values = new ArrayList<>();
        for (int i = lists.start(row); i < lists.end(row); i++) {
            values.add(element.value(lists.elements, i));
        }
        return values;
    }

    private static void appendAll(Iterable<?> values, Codec element, Vector column) throws IOException {
        if (values == null) {
            column.appendNull();
            return;
        }
        Vector.Lists lists = (Vector.Lists) column;
        for (Object each : values) {
            element.append(each, lists.elements);
        }
        lists.append();
    }

    /** Lists that a serializer reads whole. */
    static final class Linked extends Codec {
        private final TypeSerializer<Object> serializer;
        private final Codec element;

        @SuppressWarnings("unchecked")
        Linked(TypeSerializer<?> serializer, Codec element) throws UnreadableException {
            if (!element.opaque().isEmpty()) {
                throw new UnreadableException("the elements are not decoded");
            }
            this.serializer = (TypeSerializer<Object>) serializer;
            this.element = element;
        }

        @Override
        String type() {
            return "ARRAY<" + element.type() + ">";
        }

        @Override
        Vector vector() {
            return new Vector.Lists(element.vector());
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
            return new java.util.LinkedList<>(elements(element, column, row));
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            appendAll((Iterable<?>) value, element, column);
        }
    }

    /** Maps in the order in which they were written. The comparator of a sorted one is generated code and not run. */
    static final class Maps extends Codec {
        private final Codec key;
        private final Codec value;

        Maps(Codec key, Codec value) {
            this.key = key;
            this.value = value;
        }

        @Override
        String type() {
            return "MAP<" + key.type() + ", " + value.type() + ">";
        }

        @Override
        Vector vector() {
            return new Vector.Lists(new Vector.Structs(key.vector(), value.vector()));
        }

        @Override
        Object read(DataInputView in) throws IOException {
            int size = in.readInt();
            List<Object[]> entries = new ArrayList<>(Math.min(size, 1024));
            for (int i = 0; i < size; i++) {
                Object k = key.read(in);
                entries.add(new Object[] {k, in.readBoolean() ? null : value.read(in)});
            }
            return entries;
        }

        @Override
        @SuppressWarnings("unchecked")
        void write(Object map, DataOutputView out) throws IOException {
            List<Object[]> entries = (List<Object[]>) map;
            out.writeInt(entries.size());
            for (Object[] entry : entries) {
                key.write(entry[0], out);
                out.writeBoolean(entry[1] == null);
                if (entry[1] != null) {
                    value.write(entry[1], out);
                }
            }
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Vector.Lists lists = (Vector.Lists) column;
            Vector.Structs pairs = (Vector.Structs) lists.elements;
            List<Object[]> entries = new ArrayList<>();
            for (int i = lists.start(row); i < lists.end(row); i++) {
                entries.add(new Object[] {key.value(pairs.fields[0], i), value.value(pairs.fields[1], i)});
            }
            return entries;
        }

        @Override
        @SuppressWarnings("unchecked")
        void append(Object map, Vector column) throws IOException {
            if (map == null) {
                column.appendNull();
                return;
            }
            Vector.Lists lists = (Vector.Lists) column;
            Vector.Structs entries = (Vector.Structs) lists.elements;
            for (Object[] entry : (List<Object[]>) map) {
                key.append(entry[0], entries.fields[0]);
                value.append(entry[1], entries.fields[1]);
                entries.append();
            }
            lists.append();
        }
    }

    static final class Tuples extends Codec {
        private final List<Codec.Field> fields = new ArrayList<>();

        Tuples(List<Codec> codecs) {
            for (Codec codec : codecs) {
                fields.add(new Codec.Field("f" + fields.size(), codec));
            }
        }

        @Override
        String type() {
            return NestedCodecs.Rows.spelled(fields, false);
        }

        @Override
        List<Codec.Field> fields() {
            return fields;
        }

        @Override
        boolean isRow() {
            return true;
        }

        @Override
        Vector vector() {
            return new Vector.Structs(fields.stream().map(f -> f.codec().vector()).toArray(Vector[]::new));
        }

        @Override
        Object read(DataInputView in) throws IOException {
            Object[] values = new Object[fields.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = fields.get(i).codec().read(in);
            }
            return values;
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            for (int i = 0; i < fields.size(); i++) {
                fields.get(i).codec().write(((Object[]) value)[i], out);
            }
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Vector.Structs structs = (Vector.Structs) column;
            Object[] values = new Object[fields.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = fields.get(i).codec().value(structs.fields[i], row);
            }
            return values;
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            if (value == null) {
                column.appendNull();
                return;
            }
            Vector.Structs structs = (Vector.Structs) column;
            for (int i = 0; i < fields.size(); i++) {
                Object part = value instanceof Tuple tuple ? tuple.getField(i) : ((Object[]) value)[i];
                fields.get(i).codec().append(part, structs.fields[i]);
            }
            structs.append();
        }
    }

    static final class Windows extends Codec {
        @Override
        String type() {
            return "ROW<`start` BIGINT, `end` BIGINT>";
        }

        @Override
        List<Codec.Field> fields() {
            try {
                Codec time = DataCodec.of(new BigIntType());
                return List.of(new Codec.Field("start", time), new Codec.Field("end", time));
            } catch (UnreadableException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        boolean isRow() {
            return true;
        }

        @Override
        Vector vector() {
            return new Vector.Structs(new Vector.Fixed(8), new Vector.Fixed(8));
        }

        @Override
        Object read(DataInputView in) throws IOException {
            return new long[] {in.readLong(), in.readLong()};
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            out.writeLong(((long[]) value)[0]);
            out.writeLong(((long[]) value)[1]);
        }

        @Override
        Object present(Vector column, int row) {
            Vector.Structs structs = (Vector.Structs) column;
            return new long[] {((Vector.Fixed) structs.fields[0]).get(row), ((Vector.Fixed) structs.fields[1]).get(row)};
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
                return;
            }
            Vector.Structs structs = (Vector.Structs) column;
            for (int i = 0; i < 2; i++) {
                ((Vector.Fixed) structs.fields[i]).append(((long[]) value)[i]);
            }
            structs.append();
        }
    }
}

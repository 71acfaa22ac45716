package flinkplan.savepoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.RowKind;

/** Values made of others: arrays, maps, multisets and rows. */
final class NestedCodecs {
    private NestedCodecs() {}

    static final class Arrays extends DataCodec {
        private final Codec element;
        private final ArrayData.ElementGetter getter;

        Arrays(LogicalType element) throws UnreadableException {
            super("ARRAY<" + DataCodec.of(element).type() + ">");
            this.element = DataCodec.of(element);
            this.getter = ArrayData.createElementGetter(element.copy(true));
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Vector.Lists lists = (Vector.Lists) column;
            Object[] values = new Object[lists.end(row) - lists.start(row)];
            for (int i = 0; i < values.length; i++) {
                values[i] = element.value(lists.elements, lists.start(row) + i);
            }
            return new GenericArrayData(values);
        }

        @Override
        Vector vector() {
            return new Vector.Lists(element.vector());
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            if (value == null) {
                column.appendNull();
                return;
            }
            Vector.Lists lists = (Vector.Lists) column;
            ArrayData array = (ArrayData) value;
            for (int i = 0; i < array.size(); i++) {
                element.append(getter.getElementOrNull(array, i), lists.elements);
            }
            lists.append();
        }
    }

    static final class Maps extends DataCodec {
        private final Codec key;
        private final Codec value;
        private final ArrayData.ElementGetter keys;
        private final ArrayData.ElementGetter values;

        Maps(String name, LogicalType key, LogicalType value) throws UnreadableException {
            super(name + "<" + DataCodec.of(key).type() + (name.equals("MAP") ? ", " + DataCodec.of(value).type() : "") + ">");
            this.key = DataCodec.of(key);
            this.value = DataCodec.of(value);
            this.keys = ArrayData.createElementGetter(key.copy(true));
            this.values = ArrayData.createElementGetter(value.copy(true));
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Vector.Lists lists = (Vector.Lists) column;
            Vector.Structs entries = (Vector.Structs) lists.elements;
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = lists.start(row); i < lists.end(row); i++) {
                map.put(key.value(entries.fields[0], i), value.value(entries.fields[1], i));
            }
            return new GenericMapData(map);
        }

        @Override
        Vector vector() {
            return new Vector.Lists(new Vector.Structs(key.vector(), value.vector()));
        }

        @Override
        void append(Object map, Vector column) throws IOException {
            if (map == null) {
                column.appendNull();
                return;
            }
            Vector.Lists lists = (Vector.Lists) column;
            Vector.Structs entries = (Vector.Structs) lists.elements;
            MapData data = (MapData) map;
            ArrayData keyArray = data.keyArray();
            ArrayData valueArray = data.valueArray();
            for (int i = 0; i < data.size(); i++) {
                key.append(keys.getElementOrNull(keyArray, i), entries.fields[0]);
                value.append(values.getElementOrNull(valueArray, i), entries.fields[1]);
                entries.append();
            }
            lists.append();
        }
    }

    /** Rows; with their row kind as the last field, where a serializer of rows wrote them. */
    static final class Rows extends DataCodec {
        private final List<Field> fields;
        private final RowData.FieldGetter[] getters;
        private final boolean hasKind;

        Rows(List<String> names, List<LogicalType> types, boolean hasKind) throws UnreadableException {
            super(spelled(fieldsOf(names, types), hasKind));
            this.fields = fieldsOf(names, types);
            this.hasKind = hasKind;
            this.getters = new RowData.FieldGetter[types.size()];
            for (int i = 0; i < getters.length; i++) {
                getters[i] = RowData.createFieldGetter(types.get(i).copy(true), i);
            }
        }

        private static List<Field> fieldsOf(List<String> names, List<LogicalType> types) throws UnreadableException {
            List<Field> fields = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                fields.add(new Field(names.get(i), DataCodec.of(types.get(i))));
            }
            return fields;
        }

        static String spelled(List<Field> fields, boolean hasKind) {
            String columns =
                    fields.stream()
                            .map(f -> "`" + f.name().replace("`", "``") + "` " + f.codec().type())
                            .collect(Collectors.joining(", "));
            String kind = hasKind ? (fields.isEmpty() ? "" : ", ") + "`" + Names.ROW_KIND + "` TINYINT" : "";
            return "ROW<" + columns + kind + ">";
        }

        @Override
        List<Field> fields() {
            if (!hasKind) {
                return fields;
            }
            List<Field> all = new ArrayList<>(fields);
            all.add(new Field(Names.ROW_KIND, new ScalarCodecs.Numbers("TINYINT", 1)));
            return all;
        }

        @Override
        boolean isRow() {
            return true;
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            Vector.Structs structs = (Vector.Structs) column;
            GenericRowData values = new GenericRowData(getters.length);
            for (int i = 0; i < getters.length; i++) {
                Codec codec = fields.get(i).codec();
                Object value = codec.value(structs.fields[i], row);
                values.setField(i, value == null && codec instanceof ScalarCodecs.Raws raw ? raw.absent() : value);
            }
            if (hasKind) {
                Vector.Fixed kinds = (Vector.Fixed) structs.fields[getters.length];
                values.setRowKind(RowKind.fromByteValue((byte) kinds.get(row)));
            }
            return values;
        }

        @Override
        Vector vector() {
            return new Vector.Structs(fields().stream().map(f -> f.codec().vector()).toArray(Vector[]::new));
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            if (value == null) {
                column.appendNull();
                return;
            }
            RowData row = (RowData) value;
            Vector.Structs structs = (Vector.Structs) column;
            for (int i = 0; i < getters.length; i++) {
                fields.get(i).codec().append(getters[i].getFieldOrNull(row), structs.fields[i]);
            }
            if (hasKind) {
                ((Vector.Fixed) structs.fields[getters.length]).append(row.getRowKind().toByteValue());
            }
            structs.append();
        }
    }
}

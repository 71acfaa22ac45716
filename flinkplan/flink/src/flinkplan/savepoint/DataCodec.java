package flinkplan.savepoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.dataview.NullSerializer;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DistinctType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RawType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.StructuredType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.types.RowKind;

/** Values of SQL's types, in Flink's internal form. */
abstract class DataCodec extends Codec {
    private static final String BYTES = "VARBINARY(2147483647)";
    private static final int MILLIS_DIGITS = 3;
    private static final int MICROS_DIGITS = 6;

    private final String type;

    private DataCodec(String type) {
        this.type = type;
    }

    @Override
    String type() {
        return type;
    }

    @Override
    Object read(DataInputView in) {
        throw new UnsupportedOperationException();
    }

    @Override
    void write(Object value, DataOutputView out) {
        throw new UnsupportedOperationException();
    }

    /** The codec of a type. */
    static Codec of(LogicalType t) throws UnreadableException {
        String text = t.copy(true).getTypeRoot().name();
        switch (t.getTypeRoot()) {
            case BOOLEAN:
                return new DataCodec("BOOLEAN") {
                    @Override
                    Vector vector() {
                        return new Vector.Bits();
                    }

                    @Override
                    void append(Object value, Vector column) {
                        if (value == null) {
                            column.appendNull();
                        } else {
                            ((Vector.Bits) column).append((Boolean) value);
                        }
                    }

                    @Override
                    Object present(Vector column, int row) {
                        return ((Vector.Bits) column).get(row);
                    }
                };
            case TINYINT:
                return new Numbers("TINYINT", 1);
            case SMALLINT:
                return new Numbers("SMALLINT", 2);
            case INTEGER:
                return new Numbers("INT", 4);
            case BIGINT:
                return new Numbers("BIGINT", 8);
            case DATE:
                return new Numbers("DATE", 4);
            case TIME_WITHOUT_TIME_ZONE:
            case INTERVAL_YEAR_MONTH:
                return new Numbers(t.copy(true).asSerializableString(), 4);
            case INTERVAL_DAY_TIME:
                return new Numbers(t.copy(true).asSerializableString(), 8);
            case FLOAT:
                return new Numbers("FLOAT", 4);
            case DOUBLE:
                return new Numbers("DOUBLE", 8);
            case CHAR:
            case VARCHAR:
                return new Texts(spelled(t));
            case BINARY:
            case VARBINARY:
                return new ByteArrays(spelled(t));
            case DECIMAL:
                return new Decimals((DecimalType) t);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return new Timestamps("TIMESTAMP", ((TimestampType) t).getPrecision());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return new Timestamps("TIMESTAMP_LTZ", ((LocalZonedTimestampType) t).getPrecision());
            case ARRAY:
                return new Arrays(((ArrayType) t).getElementType());
            case MAP:
                return new Maps("MAP", ((MapType) t).getKeyType(), ((MapType) t).getValueType());
            case MULTISET:
                return new Maps(
                        "MULTISET", ((MultisetType) t).getElementType(), new org.apache.flink.table.types.logical.IntType());
            case ROW:
                return new Rows(((RowType) t).getFieldNames(), t.getChildren(), false);
            case STRUCTURED_TYPE:
                List<String> names =
                        ((StructuredType) t).getAttributes().stream().map(StructuredType.StructuredAttribute::getName).toList();
                return new Rows(names, t.getChildren(), false);
            case DISTINCT_TYPE:
                return of(((DistinctType) t).getSourceType());
            case RAW:
                return new Raws((RawType<?>) t);
            default:
                throw new UnreadableException("values of the type " + text + " are not decoded");
        }
    }

    private static String spelled(LogicalType t) {
        String name = t.copy(true).asSummaryString();
        return name.endsWith("(0)") ? (name.contains("CHAR") ? "VARCHAR(2147483647)" : BYTES) : name;
    }

    private static final class Numbers extends DataCodec {
        private final int width;

        Numbers(String type, int width) {
            super(type);
            this.width = width;
        }

        @Override
        Vector vector() {
            return new Vector.Fixed(width);
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
            } else if (value instanceof Double d) {
                ((Vector.Fixed) column).append(Double.doubleToRawLongBits(d));
            } else if (value instanceof Float f) {
                ((Vector.Fixed) column).append(Float.floatToRawIntBits(f));
            } else {
                ((Vector.Fixed) column).append(((Number) value).longValue());
            }
        }

        @Override
        Object present(Vector column, int row) {
            long value = ((Vector.Fixed) column).get(row);
            return switch (type()) {
                case "DOUBLE" -> Double.longBitsToDouble(value);
                case "FLOAT" -> Float.intBitsToFloat((int) value);
                case "TINYINT" -> (byte) value;
                case "SMALLINT" -> (short) value;
                default -> width == 8 ? (Object) value : (Object) (int) value;
            };
        }
    }

    private static final class Texts extends DataCodec {
        Texts(String type) {
            super(type);
        }

        @Override
        Vector vector() {
            return new Vector.Bytes();
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
            } else {
                byte[] text = value instanceof StringData s ? s.toBytes() : utf8((String) value);
                ((Vector.Bytes) column).append(text);
            }
        }

        @Override
        Object present(Vector column, int row) {
            return StringData.fromBytes(((Vector.Bytes) column).get(row));
        }

        private static byte[] utf8(String text) {
            return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    private static final class ByteArrays extends DataCodec {
        ByteArrays(String type) {
            super(type);
        }

        @Override
        Vector vector() {
            return new Vector.Bytes();
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
            } else {
                ((Vector.Bytes) column).append((byte[]) value);
            }
        }

        @Override
        Object present(Vector column, int row) {
            return ((Vector.Bytes) column).get(row);
        }
    }

    private static final class Decimals extends DataCodec {
        private static final int WIDTH = 16;

        private final int precision;
        private final int scale;

        Decimals(DecimalType type) {
            super("DECIMAL(" + type.getPrecision() + ", " + type.getScale() + ")");
            this.precision = type.getPrecision();
            this.scale = type.getScale();
        }

        @Override
        Object present(Vector column, int row) {
            return DecimalData.fromUnscaledBytes(((Vector.Fixed) column).getBigEndian(row), precision, scale);
        }

        @Override
        Vector vector() {
            return new Vector.Fixed(WIDTH);
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
            } else {
                ((Vector.Fixed) column).appendBigEndian(((DecimalData) value).toUnscaledBytes());
            }
        }
    }

    private static final class Timestamps extends DataCodec {
        private final int precision;

        Timestamps(String name, int precision) {
            super(name + "(" + precision + ")");
            this.precision = precision;
        }

        @Override
        Object present(Vector column, int row) {
            if (precision > MICROS_DIGITS) {
                Vector.Structs parts = (Vector.Structs) column;
                int nanos = (int) ((Vector.Fixed) parts.fields[1]).get(row);
                return TimestampData.fromEpochMillis(((Vector.Fixed) parts.fields[0]).get(row), nanos);
            }
            long value = ((Vector.Fixed) column).get(row);
            return precision <= MILLIS_DIGITS
                    ? TimestampData.fromEpochMillis(value)
                    : TimestampData.fromEpochMillis(
                            Math.floorDiv(value, 1000), (int) Math.floorMod(value, 1000L) * 1000);
        }

        @Override
        Vector vector() {
            return precision > MICROS_DIGITS
                    ? new Vector.Structs(new Vector.Fixed(8), new Vector.Fixed(4))
                    : new Vector.Fixed(8);
        }

        @Override
        void append(Object value, Vector column) {
            if (value == null) {
                column.appendNull();
                return;
            }
            TimestampData time = (TimestampData) value;
            if (precision > MICROS_DIGITS) {
                Vector.Structs parts = (Vector.Structs) column;
                ((Vector.Fixed) parts.fields[0]).append(time.getMillisecond());
                ((Vector.Fixed) parts.fields[1]).append(time.getNanoOfMillisecond());
                parts.append();
            } else if (precision <= MILLIS_DIGITS) {
                ((Vector.Fixed) column).append(time.getMillisecond());
            } else {
                ((Vector.Fixed) column).append(time.getMillisecond() * 1000 + time.getNanoOfMillisecond() / 1000);
            }
        }
    }

    private static final class Arrays extends DataCodec {
        private final Codec element;
        private final ArrayData.ElementGetter getter;

        Arrays(LogicalType element) throws UnreadableException {
            super("ARRAY<" + of(element).type() + ">");
            this.element = of(element);
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

    private static final class Maps extends DataCodec {
        private final Codec key;
        private final Codec value;
        private final ArrayData.ElementGetter keys;
        private final ArrayData.ElementGetter values;

        Maps(String name, LogicalType key, LogicalType value) throws UnreadableException {
            super(name + "<" + of(key).type() + (name.equals("MAP") ? ", " + of(value).type() : "") + ">");
            this.key = of(key);
            this.value = of(value);
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
                fields.add(new Field(names.get(i), of(types.get(i))));
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
            all.add(new Field(Names.ROW_KIND, new Numbers("TINYINT", 1)));
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
                values.setField(i, value == null && codec instanceof Raws raw ? raw.absent() : value);
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

    /** Values of classes, as their bytes. Of a view that stands in a state of its own there is but a placeholder. */
    private static final class Raws extends DataCodec {
        private final RawType<?> raw;
        private final boolean isPlaceholder;

        Raws(RawType<?> type) {
            super(BYTES);
            this.raw = type;
            this.isPlaceholder = type.getTypeSerializer() instanceof NullSerializer;
        }

        @Override
        String opaque() {
            return isPlaceholder ? "" : raw.getTypeSerializer().getClass().getName();
        }

        @Override
        Vector vector() {
            return new Vector.Bytes();
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        void append(Object value, Vector column) {
            if (value == null || isPlaceholder) {
                column.appendNull();
            } else {
                ((Vector.Bytes) column).append(((RawValueData) value).toBytes(raw.getTypeSerializer()));
            }
        }

        /** What stands in a row where there is no value. */
        Object absent() {
            return isPlaceholder ? RawValueData.fromBytes(new byte[1]) : null;
        }

        @Override
        Object present(Vector column, int row) {
            return RawValueData.fromBytes(((Vector.Bytes) column).get(row));
        }
    }
}

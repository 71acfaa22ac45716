package flinkplan.savepoint;

import java.io.IOException;
import java.lang.reflect.Method;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.dataview.NullSerializer;
import org.apache.flink.table.runtime.typeutils.LinkedListSerializer;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.RawType;

/** Values that have no parts, each a column of a {@link Vector}. */
final class ScalarCodecs {
    private static final int MILLIS_DIGITS = 3;
    private static final int MICROS_DIGITS = 6;

    private ScalarCodecs() {}

    static final class Booleans extends DataCodec {
        Booleans() {
            super("BOOLEAN");
        }

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
    }

    static final class Numbers extends DataCodec {
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

    static final class Texts extends DataCodec {
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

    static final class ByteArrays extends DataCodec {
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

    /** Bitmaps in their portable serialization; their class is named, since there is none in Flink 2.0. */
    static final class Bitmaps extends DataCodec {
        private final Method toBytes;
        private final Method fromBytes;

        Bitmaps() throws UnreadableException {
            super("BITMAP");
            try {
                Class<?> bitmap = Class.forName("org.apache.flink.types.bitmap.Bitmap");
                toBytes = bitmap.getMethod("toBytes");
                fromBytes = bitmap.getMethod("fromBytes", byte[].class);
            } catch (ReflectiveOperationException e) {
                throw new UnreadableException("this release of Flink has no bitmaps as savepoints have them");
            }
        }

        @Override
        Vector vector() {
            return new Vector.Bytes();
        }

        @Override
        void append(Object value, Vector column) throws IOException {
            if (value == null) {
                column.appendNull();
            } else {
                ((Vector.Bytes) column).append((byte[]) called(toBytes, value));
            }
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            return called(fromBytes, null, (Object) ((Vector.Bytes) column).get(row));
        }

        private static Object called(Method method, Object on, Object... arguments) throws IOException {
            try {
                return method.invoke(on, arguments);
            } catch (ReflectiveOperationException e) {
                throw new UnreadableException("a bitmap is damaged");
            }
        }
    }

    static final class Decimals extends DataCodec {
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

    static final class Timestamps extends DataCodec {
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

    /** The codec of values that stand in a row as the bytes of a serializer: those of lists are decoded. */
    static DataCodec ofRaw(RawType<?> type) {
        if (type.getTypeSerializer() instanceof LinkedListSerializer<?>) {
            Codec list = SerializerCodec.of(type.getTypeSerializer());
            return list.opaque().isEmpty() ? new RawLists(type, list) : new Raws(type);
        }
        return new Raws(type);
    }

    /** Lists that stand in a row as the bytes of their serializer. */
    private static final class RawLists extends DataCodec {
        private final RawType<?> raw;
        private final Codec list;

        RawLists(RawType<?> type, Codec list) {
            super(list.type());
            this.raw = type;
            this.list = list;
        }

        @Override
        Vector vector() {
            return list.vector();
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        void append(Object value, Vector column) throws IOException {
            TypeSerializer serializer = raw.getTypeSerializer();
            list.append(value == null ? null : ((RawValueData) value).toObject(serializer), column);
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            return RawValueData.fromObject(list.present(column, row));
        }
    }

    /** Values of classes, as their bytes. Of a view that stands in a state of its own there is but a placeholder. */
    static final class Raws extends DataCodec {
        private final RawType<?> raw;
        private final boolean isPlaceholder;

        Raws(RawType<?> type) {
            super(DataCodec.BYTES);
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

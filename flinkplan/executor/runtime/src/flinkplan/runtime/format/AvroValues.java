package flinkplan.runtime.format;

import java.io.IOException;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Converters between Avro's binary encoding and Spark's inner values, by the schema that Flink derives from types.
 *
 * <p>What may be NULL is a union with null, which is its first branch. Source: Flink's {@code AvroSchemaConverter}.
 */
final class AvroValues implements Serializable {
    private static final FlinkType COUNT = new FlinkType("INT", 0, 0, 0, List.of(), List.of(), false, false);
    private static final int NULL = 0;
    private static final int VALUE = 1;

    /** Reads a value. */
    interface Reader extends Serializable {
        Object read(org.apache.avro.io.Decoder in) throws IOException;
    }

    /** Writes the value at an index. */
    interface Writer extends Serializable {
        void write(SpecializedGetters row, int index, org.apache.avro.io.Encoder out) throws IOException;
    }

    private interface Put extends Serializable {
        void put(Object value, org.apache.avro.io.Encoder out) throws IOException;
    }

    private final boolean isLegacy;

    AvroValues(FormatOptions options) {
        isLegacy = Boolean.parseBoolean(options.get("timestamp_mapping.legacy", "true"));
    }

    /** Reads a row that is there in any case. */
    Reader record(FlinkType row) {
        return present(row);
    }

    /** Writes the row at an index, which is there in any case. */
    Writer recordWriter(FlinkType row) {
        Values.Getter getter = Values.getter(row);
        Put put = put(row);
        return (values, i, out) -> put.put(getter.get(values, i), out);
    }

    Reader reader(FlinkType type) {
        Reader present = present(type);
        if (type.isRequired()) {
            return present;
        }
        return in -> {
            if (in.readIndex() != NULL) {
                return present.read(in);
            }
            in.readNull();
            return null;
        };
    }

    private Reader present(FlinkType type) {
        return switch (type.root()) {
            case "BOOLEAN" -> in -> in.readBoolean();
            case "TINYINT" -> in -> (byte) in.readInt();
            case "SMALLINT" -> in -> (short) in.readInt();
            case "INT", "DATE", "TIME" -> in -> in.readInt();
            case "BIGINT" -> in -> in.readLong();
            case "FLOAT" -> in -> in.readFloat();
            case "DOUBLE" -> in -> in.readDouble();
            case "CHAR", "VARCHAR" -> in -> UTF8String.fromString(in.readString());
            case "BINARY", "VARBINARY" -> AvroValues::bytes;
            case "DECIMAL" -> in -> JsonValues.toDecimal(
                    new BigDecimal(new BigInteger(bytes(in)), type.scale()), type.precision(), type.scale());
            case "TIMESTAMP", "TIMESTAMP_LTZ" -> timestamps(type);
            case "ARRAY" -> array(reader(type.child(0)));
            case "MAP" -> map(reader(type.child(1)));
            case "MULTISET" -> map(reader(COUNT));
            case "ROW" -> row(type.children().stream().map(this::reader).toArray(Reader[]::new));
            default -> throw unknown(type);
        };
    }

    private static IllegalArgumentException unknown(FlinkType type) {
        return new IllegalArgumentException("Avro has no values of the type " + type.root());
    }

    private static byte[] bytes(org.apache.avro.io.Decoder in) throws IOException {
        ByteBuffer buffer = in.readBytes(null);
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    /** Milliseconds, microseconds, or nanoseconds, by the precision; milliseconds alone in Flink's older mapping. */
    private Reader timestamps(FlinkType type) {
        if (isLegacy || type.precision() <= 3) {
            return in -> Math.multiplyExact(in.readLong(), 1000L);
        }
        if (!type.hasNanos()) {
            return in -> in.readLong();
        }
        return in -> {
            long nanos = in.readLong();
            return new GenericInternalRow(
                    new Object[] {Math.floorDiv(nanos, 1000L), (short) Math.floorMod(nanos, 1000L)});
        };
    }

    private static Reader array(Reader element) {
        return in -> {
            List<Object> values = new ArrayList<>();
            for (long left = in.readArrayStart(); left > 0; left = in.arrayNext()) {
                for (long i = 0; i < left; i++) {
                    values.add(element.read(in));
                }
            }
            return new GenericArrayData(values.toArray());
        };
    }

    private static Reader map(Reader value) {
        return in -> {
            HashMap<UTF8String, Object> entries = new HashMap<>();
            for (long left = in.readMapStart(); left > 0; left = in.mapNext()) {
                for (long i = 0; i < left; i++) {
                    entries.put(UTF8String.fromString(in.readString()), value.read(in));
                }
            }
            return Values.map(entries);
        };
    }

    /** Fields come in their order, or in that of the schema with which they were written. */
    private static Reader row(Reader[] fields) {
        return in -> {
            Object[] values = new Object[fields.length];
            if (in instanceof ResolvingDecoder resolving) {
                for (Schema.Field field : resolving.readFieldOrder()) {
                    values[field.pos()] = fields[field.pos()].read(in);
                }
            } else {
                for (int i = 0; i < fields.length; i++) {
                    values[i] = fields[i].read(in);
                }
            }
            return new GenericInternalRow(values);
        };
    }

    Writer writer(FlinkType type) {
        Values.Getter getter = Values.getter(type);
        Put put = put(type);
        if (type.isRequired()) {
            return (row, i, out) -> put.put(getter.get(row, i), out);
        }
        return (row, i, out) -> {
            out.writeIndex(row.isNullAt(i) ? NULL : VALUE);
            if (!row.isNullAt(i)) {
                put.put(getter.get(row, i), out);
            }
        };
    }

    private Put put(FlinkType type) {
        return switch (type.root()) {
            case "BOOLEAN" -> (value, out) -> out.writeBoolean((boolean) value);
            case "TINYINT", "SMALLINT", "INT", "DATE", "TIME" -> (value, out) ->
                    out.writeInt(((Number) value).intValue());
            case "BIGINT" -> (value, out) -> out.writeLong((long) value);
            case "FLOAT" -> (value, out) -> out.writeFloat((float) value);
            case "DOUBLE" -> (value, out) -> out.writeDouble((double) value);
            case "CHAR", "VARCHAR" -> (value, out) -> out.writeString((String) value);
            case "BINARY", "VARBINARY" -> (value, out) -> out.writeBytes((byte[]) value);
            case "DECIMAL" -> (value, out) ->
                    out.writeBytes(((BigDecimal) value).unscaledValue().toByteArray());
            case "TIMESTAMP", "TIMESTAMP_LTZ" -> putTimestamp(type);
            case "ARRAY" -> putArray(writer(type.child(0)));
            case "MAP" -> putMap(writer(type.child(1)));
            case "MULTISET" -> putMap(writer(COUNT));
            case "ROW" -> putRow(type.children().stream().map(this::writer).toArray(Writer[]::new));
            default -> throw unknown(type);
        };
    }

    private Put putTimestamp(FlinkType type) {
        long second = isLegacy || type.precision() <= 3 ? 1_000L : type.hasNanos() ? 1_000_000_000L : 1_000_000L;
        long nanos = 1_000_000_000L / second;
        return (value, out) -> {
            LocalDateTime time = (LocalDateTime) value;
            long seconds = Math.multiplyExact(time.toEpochSecond(ZoneOffset.UTC), second);
            out.writeLong(Math.addExact(seconds, time.getNano() / nanos));
        };
    }

    private static Put putArray(Writer element) {
        return (value, out) -> {
            ArrayData array = (ArrayData) value;
            out.writeArrayStart();
            out.setItemCount(array.numElements());
            for (int i = 0; i < array.numElements(); i++) {
                out.startItem();
                element.write(array, i, out);
            }
            out.writeArrayEnd();
        };
    }

    private static Put putMap(Writer element) {
        return (value, out) -> {
            MapData map = (MapData) value;
            out.writeMapStart();
            out.setItemCount(map.numElements());
            for (int i = 0; i < map.numElements(); i++) {
                out.startItem();
                out.writeString(map.keyArray().getUTF8String(i).toString());
                element.write(map.valueArray(), i, out);
            }
            out.writeMapEnd();
        };
    }

    private static Put putRow(Writer[] fields) {
        return (value, out) -> {
            for (int i = 0; i < fields.length; i++) {
                fields[i].write((InternalRow) value, i, out);
            }
        };
    }
}

package flinkplan.runtime.format;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/**
 * The format {@code protobuf}; what it writes {@link ProtobufDecoder} reads.
 *
 * <p>Fields that are NULL are not set; elements of arrays and maps that are have a value all the same. Source: Flink's
 * {@code PbCodegenRowSerializer} and {@code PbCodegenUtils}.
 */
final class ProtobufEncoder implements Encoder {
    private final ProtobufType message;
    private final String nullText;

    ProtobufEncoder(FlinkType row, FormatOptions options) {
        message = ProtobufDecoder.message(row, options);
        nullText = options.get("write-null-string-literal", "");
    }

    @Override
    public void encode(byte kind, InternalRow row, OutputStream out) throws IOException {
        Output message = new Output();
        write(this.message, row, message);
        message.writeTo(out);
        out.write('\n');
    }

    private void write(ProtobufType type, InternalRow row, Output out) throws IOException {
        Map<Integer, Integer> chosen = new HashMap<>();
        List<Integer> present = new ArrayList<>();
        for (int i = 0; i < type.fields().size(); i++) {
            if (!row.isNullAt(i)) {
                present.add(i);
                Integer group = type.oneofs().get(type.fields().get(i).number());
                if (group != null) {
                    chosen.put(group, i);
                }
            }
        }
        present.removeIf(i -> {
            Integer group = type.oneofs().get(type.fields().get(i).number());
            return group != null && chosen.get(group) != i;
        });
        for (int number : type.required()) {
            if (present.stream().noneMatch(i -> type.fields().get(i).number() == number)) {
                throw new IOException("a required field of the message is NULL, or not among the columns");
            }
        }
        present.sort(Comparator.comparing(i -> type.fields().get(i).number()));
        for (int i : present) {
            field(type.fields().get(i), row, i, out);
        }
    }

    private void field(ProtobufType.Field field, InternalRow row, int i, Output out) throws IOException {
        if (field.isMap()) {
            MapData map = row.getMap(i);
            for (int entry = 0; entry < map.numElements(); entry++) {
                Output part = new Output();
                value(field.message().fields().get(0), map.keyArray(), entry, part, true);
                value(field.message().fields().get(1), map.valueArray(), entry, part, true);
                out.tag(field.number(), Output.BYTES);
                out.bytes(part.toByteArray());
            }
        } else if (field.isRepeated()) {
            ArrayData array = row.getArray(i);
            Output packed = new Output();
            for (int element = 0; element < array.numElements(); element++) {
                if (field.isPacked()) {
                    scalar(field, array, element, packed);
                } else {
                    value(field, array, element, out, true);
                }
            }
            if (field.isPacked() && array.numElements() > 0) {
                out.tag(field.number(), Output.BYTES);
                out.bytes(packed.toByteArray());
            }
        } else {
            value(field, row, i, out, field.hasPresence());
        }
    }

    /** Writes a value with its tag; {@code isShown}: also where it is the default, which readers take for granted. */
    private void value(ProtobufType.Field field, SpecializedGetters row, int i, Output out, boolean isShown)
            throws IOException {
        if (field.message() != null) {
            Output part = new Output();
            if (!row.isNullAt(i)) {
                write(field.message(), row.getStruct(i, field.type().size()), part);
            }
            out.tag(field.number(), Output.BYTES);
            out.bytes(part.toByteArray());
            return;
        }
        Output content = new Output();
        boolean isDefault = scalar(field, row, i, content);
        if (isShown || !isDefault) {
            out.tag(field.number(), ProtobufDecoder.wireOf(field.kind()));
            content.writeTo(out);
        }
    }

    /** Writes a value without its tag; whether it is 0, false or empty. */
    private boolean scalar(ProtobufType.Field field, SpecializedGetters row, int i, Output out) throws IOException {
        boolean isNull = row.isNullAt(i);
        switch (field.kind()) {
            case "int32" -> {
                return out.varint(isNull ? 0 : row.getInt(i));
            }
            case "uint32" -> {
                return out.varint(isNull ? 0 : row.getInt(i) & 0xffff_ffffL);
            }
            case "sint32" -> {
                int value = isNull ? 0 : row.getInt(i);
                return out.varint((value << 1 ^ value >> 31) & 0xffff_ffffL);
            }
            case "int64", "uint64" -> {
                return out.varint(isNull ? 0 : row.getLong(i));
            }
            case "sint64" -> {
                long value = isNull ? 0 : row.getLong(i);
                return out.varint(value << 1 ^ value >> 63);
            }
            case "bool" -> {
                return out.varint(!isNull && row.getBoolean(i) ? 1 : 0);
            }
            case "fixed32", "sfixed32" -> {
                return out.fixed32(isNull ? 0 : row.getInt(i));
            }
            case "float" -> {
                return out.fixed32(Float.floatToRawIntBits(isNull ? 0 : row.getFloat(i)));
            }
            case "fixed64", "sfixed64" -> {
                return out.fixed64(isNull ? 0 : row.getLong(i));
            }
            case "double" -> {
                return out.fixed64(Double.doubleToRawLongBits(isNull ? 0 : row.getDouble(i)));
            }
            case "bytes" -> {
                return out.bytes(isNull ? new byte[0] : row.getBinary(i));
            }
            case "string" -> {
                String text = isNull ? nullText : row.getUTF8String(i).toString();
                return out.bytes(text.getBytes(StandardCharsets.UTF_8));
            }
            default -> {
                return out.varint(isNull ? field.firstName() : number(field, row, i));
            }
        }
    }

    /** The number of an enumeration's value: the first one where it has no such value. */
    private static int number(ProtobufType.Field field, SpecializedGetters row, int i) {
        int number;
        switch (field.type().root()) {
            case "TINYINT" -> number = row.getByte(i);
            case "SMALLINT" -> number = row.getShort(i);
            case "INT" -> number = row.getInt(i);
            case "BIGINT" -> number = Math.toIntExact(row.getLong(i));
            default -> {
                return field.numbers().getOrDefault(row.getUTF8String(i).toString(), field.firstName());
            }
        }
        return field.names().containsKey(number) ? number : field.firstName();
    }

    /** The bytes of a message. */
    private static final class Output extends ByteArrayOutputStream {
        static final int BYTES = 2;

        void tag(int number, int wire) {
            varint((long) number << 3 | wire);
        }

        boolean varint(long value) {
            for (long rest = value; ; rest >>>= 7) {
                if ((rest & ~0x7fL) == 0) {
                    write((int) rest);
                    return value == 0;
                }
                write((int) rest & 0x7f | 0x80);
            }
        }

        boolean fixed32(int value) {
            for (int shift = 0; shift < 32; shift += 8) {
                write(value >>> shift);
            }
            return value == 0;
        }

        boolean fixed64(long value) {
            for (int shift = 0; shift < 64; shift += 8) {
                write((int) (value >>> shift));
            }
            return value == 0;
        }

        boolean bytes(byte[] content) throws IOException {
            varint(content.length);
            write(content);
            return content.length == 0;
        }
    }
}

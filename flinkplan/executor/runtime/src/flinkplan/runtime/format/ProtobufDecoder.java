package flinkplan.runtime.format;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The format {@code protobuf}: a message of Protocol Buffers in their binary encoding.
 *
 * <p>Sources: Flink's {@code PbRowDataDeserializationSchema} and {@code PbCodegenRowDeserializer}; the encoding is that
 * of the documentation of Protocol Buffers.
 */
final class ProtobufDecoder implements Decoder {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int VARINT = 0, FIXED64 = 1, BYTES = 2, GROUP = 3, END_OF_GROUP = 4, FIXED32 = 5;
    private static final int MOST_GROUPS = 100;

    private final ProtobufType message;
    private final int[] projection;
    private final boolean ignoresErrors;
    private final boolean readsDefaults;

    /** @param projection the indexes of the fields that rows have, in order */
    ProtobufDecoder(FlinkType row, List<Integer> projection, FormatOptions options) {
        message = message(row, options);
        this.projection = projection.stream().mapToInt(i -> i).toArray();
        ignoresErrors = options.is("ignore-parse-errors");
        readsDefaults = options.is("read-default-values");
    }

    static ProtobufType message(FlinkType row, FormatOptions options) {
        try {
            return ProtobufType.parse(MAPPER.readTree(options.get("message", null)), row.children());
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        Object[] values;
        try {
            values = row(message, new Input(buffer, from, to));
        } catch (IOException e) {
            if (ignoresErrors) {
                return;
            }
            throw e;
        }
        Object[] projected = new Object[projection.length];
        for (int i = 0; i < projected.length; i++) {
            projected[i] = values[projection[i]];
        }
        rows.add(INSERT, projected);
    }

    /** What there is of a field: the last value, all of a repeated one, or the parts of a message. */
    private static final class Found {
        Object value;
        List<Object> values;
        byte[] parts;
    }

    private Object[] row(ProtobufType type, Input in) throws IOException {
        Map<Integer, ProtobufType.Field> byNumber = new HashMap<>();
        type.fields().forEach(field -> byNumber.put(field.number(), field));
        Map<Integer, Found> found = new HashMap<>();
        Set<Integer> seen = new HashSet<>();
        while (!in.isAtEnd()) {
            int tag = (int) in.varint();
            int number = tag >>> 3;
            if (number == 0) {
                throw new IOException("it has a field without a number");
            }
            seen.add(number);
            ProtobufType.Field field = byNumber.get(number);
            boolean isTaken = field != null && take(type, field, tag & 7, in, found);
            if (!isTaken && (field == null || !isPossible(field, tag & 7))) {
                in.skip(tag);
            }
            Integer group = type.oneofs().get(number);
            if (group != null && (field == null || isTaken)) {
                found.keySet().removeIf(other -> other != number && group.equals(type.oneofs().get(other)));
            }
        }
        if (!seen.containsAll(type.required())) {
            throw new IOException("it lacks a required field");
        }
        Object[] values = new Object[type.fields().size()];
        for (int i = 0; i < values.length; i++) {
            ProtobufType.Field field = type.fields().get(i);
            values[i] = value(type, field, found.get(field.number()));
        }
        return values;
    }

    private static boolean isPossible(ProtobufType.Field field, int wire) {
        return wire == wireOf(field.kind()) || field.isRepeated() && wire == BYTES;
    }

    /** Takes a value up; false where it counts as none: its encoding is another one, or its number names nothing. */
    private boolean take(ProtobufType type, ProtobufType.Field field, int wire, Input in, Map<Integer, Found> all)
            throws IOException {
        int expected = wireOf(field.kind());
        if (field.isRepeated()) {
            if (wire != expected && wire != BYTES) {
                return false;
            }
            Found found = all.computeIfAbsent(field.number(), n -> new Found());
            if (found.values == null) {
                found.values = new ArrayList<>();
            }
            if (wire == expected) {
                add(found, type, field, in);
            } else {
                for (Input packed = in.part(); !packed.isAtEnd(); ) {
                    add(found, type, field, packed);
                }
            }
            return true;
        }
        if (wire != expected) {
            return false;
        }
        if (field.message() != null) {
            Found found = all.computeIfAbsent(field.number(), n -> new Found());
            byte[] part = in.bytes();
            found.parts = found.parts == null ? part : joined(found.parts, part);
            return true;
        }
        Object value = scalar(type, field, in);
        if (value == null) {
            return false;
        }
        all.computeIfAbsent(field.number(), n -> new Found()).value = value;
        return true;
    }

    private void add(Found found, ProtobufType type, ProtobufType.Field field, Input in) throws IOException {
        Object value = field.message() == null ? scalar(type, field, in) : row(field.message(), in.part());
        if (value != null) {
            found.values.add(value);
        }
    }

    private static byte[] joined(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
    }

    /** How values of a type are encoded. */
    static int wireOf(String kind) {
        return switch (kind) {
            case "fixed64", "sfixed64", "double" -> FIXED64;
            case "fixed32", "sfixed32", "float" -> FIXED32;
            case "string", "bytes", "message" -> BYTES;
            default -> VARINT;
        };
    }

    /** A value; null where it is a number that an enumeration of proto2 has no name for. */
    private static Object scalar(ProtobufType type, ProtobufType.Field field, Input in) throws IOException {
        return switch (field.kind()) {
            case "int32", "uint32" -> (int) in.varint();
            case "int64", "uint64" -> in.varint();
            case "sint32" -> (int) zigzag(in.varint() & 0xffff_ffffL);
            case "sint64" -> zigzag(in.varint());
            case "bool" -> in.varint() != 0;
            case "fixed32", "sfixed32" -> in.fixed32();
            case "float" -> Float.intBitsToFloat(in.fixed32());
            case "fixed64", "sfixed64" -> in.fixed64();
            case "double" -> Double.longBitsToDouble(in.fixed64());
            case "bytes" -> in.bytes();
            case "string" -> text(in.bytes(), type.isProto3());
            case "enum" -> name((int) in.varint(), type, field);
            default -> throw new IllegalArgumentException("unknown type " + field.kind());
        };
    }

    private static long zigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }

    private static UTF8String text(byte[] bytes, boolean isChecked) throws IOException {
        if (isChecked) {
            try {
                StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
                return UTF8String.fromBytes(bytes);
            } catch (CharacterCodingException e) {
                throw new IOException("a text is not encoded in UTF-8", e);
            }
        }
        return UTF8String.fromString(new String(bytes, StandardCharsets.UTF_8));
    }

    private static Object name(int number, ProtobufType type, ProtobufType.Field field) throws IOException {
        String name = field.names().get(number);
        boolean isText = field.type().root().endsWith("CHAR");
        if (name == null && !type.isProto3()) {
            return null;
        }
        if (name == null && !isText) {
            throw new IOException("the field '" + field.name() + "' has the number " + number + ", which has no name");
        }
        return isText ? UTF8String.fromString(name == null ? "UNRECOGNIZED" : name) : number(number, field.type());
    }

    private static Object number(int number, FlinkType type) {
        return switch (type.root()) {
            case "TINYINT" -> (byte) number;
            case "SMALLINT" -> (short) number;
            case "BIGINT" -> (long) number;
            default -> number;
        };
    }

    private Object value(ProtobufType type, ProtobufType.Field field, Found found) throws IOException {
        if (field.isRepeated()) {
            if (found == null || found.values.isEmpty()) {
                return !readsDefaults ? null : field.isMap() ? Values.map(new HashMap<>()) : new GenericArrayData(new Object[0]);
            }
            return field.isMap() ? entries(found.values) : new GenericArrayData(elements(field, found.values));
        }
        if (field.message() != null) {
            if (found != null) {
                return struct(row(field.message(), new Input(found.parts, 0, found.parts.length)));
            }
            return readsDefaults ? struct(defaults(field.message())) : null;
        }
        if (found != null) {
            return found.value;
        }
        return readsDefaults || type.isProto3() ? fallback(field) : null;
    }

    private static InternalRow struct(Object[] values) {
        return new GenericInternalRow(values);
    }

    private static Object[] elements(ProtobufType.Field field, List<Object> values) {
        return field.message() == null
                ? values.toArray()
                : values.stream().map(row -> struct((Object[]) row)).toArray();
    }

    /** The entries of a map: of those with one key the last. */
    private static Object entries(List<Object> rows) {
        HashMap<Object, Object> entries = new HashMap<>();
        for (Object row : rows) {
            entries.put(((Object[]) row)[0], ((Object[]) row)[1]);
        }
        return Values.map(entries);
    }

    /** The values of a message without any. */
    private Object[] defaults(ProtobufType type) throws IOException {
        Object[] values = new Object[type.fields().size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(type, type.fields().get(i), null);
        }
        return values;
    }

    private static Object fallback(ProtobufType.Field field) {
        String text = field.fallback();
        return switch (field.kind()) {
            case "int32", "uint32", "sint32", "fixed32", "sfixed32" -> text == null ? 0 : (int) Long.parseLong(text);
            case "int64", "sint64", "sfixed64" -> text == null ? 0L : Long.parseLong(text);
            case "uint64", "fixed64" -> text == null ? 0L : Long.parseUnsignedLong(text);
            case "bool" -> Boolean.parseBoolean(text);
            case "float" -> text == null ? 0f : Float.parseFloat(text);
            case "double" -> text == null ? 0d : Double.parseDouble(text);
            case "string" -> UTF8String.fromString(text == null ? "" : text);
            case "bytes" -> text == null ? new byte[0] : text.getBytes(StandardCharsets.ISO_8859_1);
            default -> {
                int number = text == null ? field.firstName() : Integer.parseInt(text);
                boolean isText = field.type().root().endsWith("CHAR");
                yield isText ? UTF8String.fromString(field.names().get(number)) : number(number, field.type());
            }
        };
    }

    /** The bytes of a message. */
    private static final class Input {
        private final byte[] buffer;
        private final int end;
        private int at;

        Input(byte[] buffer, int from, int end) {
            this.buffer = buffer;
            this.at = from;
            this.end = end;
        }

        boolean isAtEnd() {
            return at >= end;
        }

        long varint() throws IOException {
            long value = 0;
            for (int shift = 0; shift < 70; shift += 7) {
                byte next = buffer[require(1)];
                value |= shift < 64 ? (long) (next & 0x7f) << shift : 0;
                if (next >= 0) {
                    return value;
                }
            }
            throw new IOException("a number is too long");
        }

        int fixed32() throws IOException {
            return Integer.reverseBytes(ByteBuffer.wrap(buffer, require(4), 4).getInt());
        }

        long fixed64() throws IOException {
            return Long.reverseBytes(ByteBuffer.wrap(buffer, require(8), 8).getLong());
        }

        byte[] bytes() throws IOException {
            Input part = part();
            byte[] bytes = new byte[part.end - part.at];
            System.arraycopy(buffer, part.at, bytes, 0, bytes.length);
            return bytes;
        }

        Input part() throws IOException {
            long length = varint();
            if (length < 0 || length > Integer.MAX_VALUE) {
                throw new IOException("a length is out of range");
            }
            int from = require((int) length);
            return new Input(buffer, from, at);
        }

        /** Goes on by so many bytes, from the index that is returned. */
        private int require(int bytes) throws IOException {
            if (bytes > end - at) {
                throw new IOException("it is cut off");
            }
            at += bytes;
            return at - bytes;
        }

        void skip(int tag) throws IOException {
            skip(tag, 0);
        }

        private void skip(int tag, int depth) throws IOException {
            switch (tag & 7) {
                case VARINT -> varint();
                case FIXED64 -> require(8);
                case BYTES -> part();
                case FIXED32 -> require(4);
                case GROUP -> skipGroup(tag >>> 3, depth + 1);
                default -> throw new IOException("it has a field of an unknown encoding");
            }
        }

        private void skipGroup(int number, int depth) throws IOException {
            if (depth > MOST_GROUPS) {
                throw new IOException("it has too many groups within each other");
            }
            for (int tag = (int) varint(); tag != (number << 3 | END_OF_GROUP); tag = (int) varint()) {
                skip(tag, depth);
            }
        }
    }
}

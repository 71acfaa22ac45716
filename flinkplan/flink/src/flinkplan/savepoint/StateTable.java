package flinkplan.savepoint;

import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.isAmbiguousKeyPossible;
import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.writeVariableIntBytes;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;

/** A state being read: its columns and the table that they are written to. */
final class StateTable {
    /** The names of tables with handles of keyed, and of operator states. */
    static final String KEYED_STATES = "keyed states", OPERATOR_STATES = "operator states";

    private static final byte SEPARATOR = ',';

    final int number;
    final String name;
    final Kind kind;
    final TypeSerializer<?> valueSerializer;
    TypeSerializer<?> keySerializer;
    TypeSerializer<?> namespaceSerializer;
    TypeSerializer<?> mapKeySerializer;
    String type = "";
    Codec key;
    Codec namespace;
    Codec mapKey;
    Codec value;
    boolean hasTtl;
    /** The serializer for whose sake the bytes are not decoded; empty: there is none. */
    String unknownSerializer = "";

    String clock = "";
    private Table table;
    private Vector.Fixed subtasks;
    private Vector keys;
    private Vector namespaces;
    private Vector mapKeys;
    private Vector.Fixed positions;
    private Vector values;
    private Vector.Fixed accessed;

    /** The kinds of states, as the neutral form has them. */
    enum Kind {
        VALUE("value"),
        LIST("list"),
        MAP("map"),
        TIMERS("timers"),
        OPERATOR_LIST("operator list"),
        OPERATOR_UNION("operator union"),
        BROADCAST("broadcast"),
        COORDINATOR("coordinator"),
        HANDLE("handle");

        final String text;

        Kind(String text) {
            this.text = text;
        }

        boolean isKeyed() {
            return this == VALUE || this == LIST || this == MAP || this == TIMERS;
        }

        boolean isList() {
            return this == LIST || this == OPERATOR_LIST || this == OPERATOR_UNION;
        }
    }

    StateTable(int number, String name, Kind kind, TypeSerializer<?> valueSerializer) {
        this.number = number;
        this.name = name;
        this.kind = kind;
        this.valueSerializer = valueSerializer;
    }

    /** Makes the columns, once the codecs are set, and the table that is written. */
    void open(Path folder) {
        table = new Table(folder.resolve(number + ".batches"), columns());
    }

    private Vector[] columns() {
        List<Vector> columns = new ArrayList<>();
        if (!kind.isKeyed()) {
            columns.add(subtasks = new Vector.Fixed(4));
        }
        if (key != null) {
            columns.add(keys = structOf(key));
        }
        if (hasNamespace()) {
            columns.add(namespaces = structOf(namespace));
        }
        if (mapKey != null) {
            columns.add(mapKeys = structOf(mapKey));
        }
        if (kind.isList()) {
            columns.add(positions = new Vector.Fixed(8));
        }
        columns.add(values = structOf(value));
        if (hasTtl) {
            columns.add(accessed = new Vector.Fixed(8));
        }
        return columns.toArray(new Vector[0]);
    }

    /** Is given each entry in the form in which a state backend keeps it. */
    interface Entries {
        /**
         * Takes an entry.
         *
         * @param head the key, namespace, and key within the map; of a timer its time before them
         * @param keyHash the hash of the key, by which it belongs to a key group
         */
        void take(int keyHash, long position, DataOutputSerializer head, DataOutputSerializer stored)
                throws IOException;
    }

    /** Reads the table of a keyed state back; lists by their elements. */
    void forEachEntry(Path folder, Entries entries) throws IOException {
        DataOutputSerializer head = new DataOutputSerializer(128);
        DataOutputSerializer stored = new DataOutputSerializer(256);
        boolean isAmbiguous = kind != Kind.TIMERS && isAmbiguousKeyPossible(keySerializer, namespaceSerializer);
        load(folder, row -> {
            head.clear();
            stored.clear();
            if (kind == Kind.TIMERS) {
                value.write(part(value, values, row), head);
            }
            Object keyValue = part(key, keys, row);
            writePart(key, keyValue, head, isAmbiguous);
            if (namespaces != null) {
                writePart(namespace, part(namespace, namespaces, row), head, isAmbiguous);
            } else if (namespace != null) {
                namespaceSerializerWrite(head);
            }
            if (mapKey != null) {
                mapKey.write(part(mapKey, mapKeys, row), head);
            }
            if (kind != Kind.TIMERS) {
                writeStored(row, stored);
            }
            entries.take(keyValue.hashCode(), positions == null ? 0 : positions.get(row), head, stored);
        });
    }

    private void writeStored(int row, DataOutputSerializer out) throws IOException {
        Object stored = part(value, values, row);
        if (kind == Kind.MAP) {
            out.writeBoolean(stored == null);
        }
        if (stored != null) {
            if (accessed != null) {
                out.writeLong(accessed.get(row));
            }
            value.write(stored, out);
        } else if (kind != Kind.MAP) {
            throw new UnreadableException("a value of the state " + name + " is NULL");
        }
    }

    private static Object part(Codec codec, Vector column, int row) throws IOException {
        return codec.isRow() ? codec.value(column, row) : codec.value(((Vector.Structs) column).fields[0], row);
    }

    private static void writePart(Codec codec, Object part, DataOutputSerializer out, boolean hasLength)
            throws IOException {
        int before = out.length();
        codec.write(part, out);
        if (hasLength) {
            writeVariableIntBytes(out.length() - before, out);
        }
    }

    /** A namespace without fields, of which the serializer may write something nevertheless. */
    @SuppressWarnings("unchecked")
    private void namespaceSerializerWrite(DataOutputSerializer out) throws IOException {
        TypeSerializer<Object> serializer = (TypeSerializer<Object>) namespaceSerializer;
        serializer.serialize(serializer.createInstance(), out);
    }

    /** Is given the rows of a table, whose columns have been read. */
    private interface Rows {
        void take(int row) throws IOException;
    }

    private void load(Path folder, Rows rows) throws IOException {
        Vector[] columns = columns();
        Path file = folder.resolve(number + ".batches");
        if (!Files.exists(file)) {
            return;
        }
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
            while (true) {
                in.mark(1);
                if (in.read() < 0) {
                    return;
                }
                in.reset();
                int count = Math.toIntExact(Vector.readLong(in));
                for (Vector column : columns) {
                    column.load(in, count);
                }
                for (int row = 0; row < count; row++) {
                    rows.take(row);
                }
                Progress.add(count);
            }
        }
    }

    /** Is given each element of an operator state. */
    interface Elements {
        void take(int subtask, byte[] written) throws IOException;
    }

    /** Reads the table of an operator state back, in order; entries of a broadcast state with their keys. */
    void forEachElement(Path folder, Elements elements) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(256);
        load(folder, row -> {
            out.clear();
            if (mapKey != null) {
                mapKey.write(part(mapKey, mapKeys, row), out);
            }
            value.write(part(value, values, row), out);
            elements.take((int) subtasks.get(row), out.getCopyOfBuffer());
        });
    }

    /** Reads bytes that were carried as they are. */
    void forEachBytes(Path folder, Elements elements) throws IOException {
        load(folder, row -> elements.take((int) subtasks.get(row), (byte[]) part(value, values, row)));
    }

    boolean hasNamespace() {
        return namespace != null && !(namespace.isRow() && namespace.fields().isEmpty());
    }

    private static Vector structOf(Codec codec) {
        return codec.isRow() ? codec.vector() : new Vector.Structs(codec.vector());
    }

    private static void append(Codec codec, Object value, Vector column) throws IOException {
        if (codec.isRow()) {
            codec.append(value, column);
        } else {
            Vector.Structs struct = (Vector.Structs) column;
            codec.append(value, struct.fields[0]);
            struct.append();
        }
    }

    long entries() {
        return table.entries();
    }

    void close() throws IOException {
        table.close();
    }

    /** Reads the bytes that a state backend keeps for a key and namespace. */
    void readEntry(Object keyValue, Object namespaceValue, DataInputDeserializer keyRest, byte[] stored)
            throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(stored);
        switch (kind) {
            case MAP -> {
                Object within = mapKey.read(keyRest);
                boolean isNull = in.readBoolean();
                readValue(keyValue, namespaceValue, within, 0, isNull ? null : in);
            }
            case LIST -> {
                for (long position = 0; in.available() > 0; position++) {
                    readValue(keyValue, namespaceValue, null, position, in);
                    if (in.available() > 0 && in.readByte() != SEPARATOR) {
                        throw new UnreadableException("the list " + name + " is damaged");
                    }
                }
            }
            default -> readValue(keyValue, namespaceValue, null, 0, in);
        }
    }

    /** Reads what a heap backend keeps for a key and namespace: lists and maps stand there whole. */
    void readWhole(Object keyValue, Object namespaceValue, DataInputView in) throws IOException {
        switch (kind) {
            case MAP -> {
                int size = in.readInt();
                for (int i = 0; i < size; i++) {
                    Object within = mapKey.read(in);
                    readValue(keyValue, namespaceValue, within, 0, in.readBoolean() ? null : in);
                }
            }
            case LIST -> {
                int size = in.readInt();
                for (long position = 0; position < size; position++) {
                    readValue(keyValue, namespaceValue, null, position, in);
                }
            }
            default -> readValue(keyValue, namespaceValue, null, 0, in);
        }
    }

    private void readValue(Object keyValue, Object namespaceValue, Object within, long position, DataInputView in)
            throws IOException {
        appendKey(keyValue, namespaceValue);
        if (mapKey != null) {
            append(mapKey, within, mapKeys);
        }
        if (positions != null) {
            positions.append(position);
        }
        appendValue(in);
    }

    private void appendKey(Object keyValue, Object namespaceValue) throws IOException {
        append(key, keyValue, keys);
        if (namespaces != null) {
            append(namespace, namespaceValue, namespaces);
        }
    }

    private void appendValue(DataInputView in) throws IOException {
        if (accessed != null) {
            if (in == null) {
                accessed.appendNull();
            } else {
                accessed.append(in.readLong());
            }
        }
        append(value, in == null ? null : value.read(in), values);
        table.endRow();
    }

    /** Reads a timer, without the time that stands before its key. */
    void readTimer(long timestamp, DataInputView in) throws IOException {
        Object keyValue = key.read(in);
        appendKey(keyValue, namespace.read(in));
        append(value, timestamp, values);
        table.endRow();
    }

    /** Reads an element of an operator state. */
    void readElement(int subtask, long position, DataInputView in) throws IOException {
        subtasks.append(subtask);
        if (mapKey != null) {
            append(mapKey, mapKey.read(in), mapKeys);
        }
        if (positions != null) {
            positions.append(position);
        }
        append(value, value.read(in), values);
        table.endRow();
    }

    /** Adds bytes that are carried as they are. */
    void addBytes(int subtask, byte[] bytes) throws IOException {
        subtasks.append(subtask);
        append(value, bytes, values);
        table.endRow();
    }
}

package flinkplan.savepoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;

/** A state being read: its columns and the table that they are written to. */
final class StateTable {
    private static final byte SEPARATOR = ',';

    final int number;
    final String name;
    final Kind kind;
    final TypeSerializer<?> valueSerializer;
    Codec key;
    Codec namespace;
    Codec mapKey;
    Codec value;
    boolean hasTtl;
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
        OPAQUE("opaque");

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

    /** Makes the columns, once the codecs are set. */
    void open(Path folder) {
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
        table = new Table(folder.resolve(number + ".batches"), columns.toArray(new Vector[0]));
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

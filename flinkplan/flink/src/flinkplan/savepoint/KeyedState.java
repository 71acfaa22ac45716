package flinkplan.savepoint;

import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix;
import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.isAmbiguousKeyPossible;
import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.readVariableIntBytes;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonOptionsKeys;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** The keyed states of one operator, from the handles of all its subtasks. */
final class KeyedState {
    private static final String TIMERS = "_timer_state/";
    private static final int END_OF_KEY_GROUP = 0xFFFF;
    private static final int FIRST_OF_NEXT_STATE = 0x80;
    private static final long SIGN = Long.MIN_VALUE;

    private final int maxParallelism;
    private final ClassLoader classes;
    private final Path folder;
    private final Numbers numbers;
    private final Map<String, StateTable> tables = new HashMap<>();
    private final List<StateTable> inOrder = new ArrayList<>();
    private Codec key;
    private TypeSerializer<?> keySerializer;

    /** Numbers for tables. */
    interface Numbers {
        int next();
    }

    KeyedState(int maxParallelism, ClassLoader classes, Path folder, Numbers numbers) {
        this.maxParallelism = maxParallelism;
        this.classes = classes;
        this.folder = folder;
        this.numbers = numbers;
    }

    List<StateTable> tables() {
        return inOrder;
    }

    TypeSerializer<?> keySerializer() {
        return keySerializer;
    }

    /** Reads a handle. */
    void read(KeyedStateHandle handle) throws Exception {
        if (handle instanceof KeyGroupsStateHandle groups) {
            readGroups(groups);
        } else if (handle instanceof IncrementalRemoteKeyedStateHandle files) {
            RocksState.read(files, this, maxParallelism, classes, folder);
        } else {
            throw new UnreadableException("handles of the kind " + handle.getClass().getSimpleName() + " are not read");
        }
    }

    /** The tables of the states that a handle has, by their numbers in it. */
    List<StateTable> declare(KeyedBackendSerializationProxy<Object> header) throws IOException {
        if (key == null) {
            keySerializer = header.getKeySerializerSnapshot().restoreSerializer();
            key = SerializerCodec.ofKey(keySerializer);
        }
        List<StateTable> declared = new ArrayList<>();
        for (StateMetaInfoSnapshot info : header.getStateMetaInfoSnapshots()) {
            StateTable table = tables.get(info.getName());
            if (table == null) {
                table = declare(info);
                table.open(folder);
                tables.put(info.getName(), table);
                inOrder.add(table);
            }
            declared.add(table);
        }
        return declared;
    }

    private StateTable declare(StateMetaInfoSnapshot info) throws IOException {
        TypeSerializer<?> serializer = serializer(info, CommonSerializerKeys.VALUE_SERIALIZER);
        String type = info.getOption(CommonOptionsKeys.KEYED_STATE_TYPE);
        if (info.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
            return timers(numbers.next(), info.getName(), keySerializer, (TimerSerializer<?, ?>) serializer);
        }
        TypeSerializer<?> namespace = serializer(info, CommonSerializerKeys.NAMESPACE_SERIALIZER);
        return table(numbers.next(), info.getName(), type, keySerializer, namespace, serializer);
    }

    /** The table of a timer service. */
    static StateTable timers(int number, String name, TypeSerializer<?> key, TimerSerializer<?, ?> serializer) {
        StateTable table = new StateTable(number, name, StateTable.Kind.TIMERS, serializer);
        table.key = SerializerCodec.ofKey(key);
        table.keySerializer = key;
        table.namespaceSerializer = serializer.getNamespaceSerializer();
        table.namespace = SerializerCodec.of(table.namespaceSerializer);
        table.value = new Timestamps();
        String service = name.substring(name.startsWith(TIMERS) ? TIMERS.length() : 0);
        table.clock = service.startsWith("event") ? "event" : "processing";
        return table;
    }

    /** The table of a state of a type such as {@code MAP}. */
    static StateTable table(
            int number,
            String name,
            String type,
            TypeSerializer<?> key,
            TypeSerializer<?> namespace,
            TypeSerializer<?> serializer)
            throws IOException {
        StateTable.Kind kind = kind(type);
        StateTable table = new StateTable(number, name, kind, serializer);
        table.type = type;
        table.keySerializer = key;
        table.namespaceSerializer = namespace;
        table.key = SerializerCodec.ofKey(key);
        table.namespace = SerializerCodec.of(namespace);
        TypeSerializer<?> value = serializer;
        if (kind == StateTable.Kind.MAP) {
            MapSerializer<?, ?> map = (MapSerializer<?, ?>) serializer;
            table.mapKey = SerializerCodec.of(map.getKeySerializer());
            value = map.getValueSerializer();
        } else if (kind == StateTable.Kind.LIST) {
            value = ((ListSerializer<?>) serializer).getElementSerializer();
        }
        table.hasTtl = SerializerCodec.hasTtl(value);
        table.value = SerializerCodec.of(table.hasTtl ? SerializerCodec.withoutTtl(value) : value);
        return table;
    }

    private static StateTable.Kind kind(String type) {
        return "MAP".equals(type)
                ? StateTable.Kind.MAP
                : "LIST".equals(type) ? StateTable.Kind.LIST : StateTable.Kind.VALUE;
    }

    private static TypeSerializer<?> serializer(StateMetaInfoSnapshot info, CommonSerializerKeys which) {
        return info.getTypeSerializerSnapshot(which).restoreSerializer();
    }

    /** The serializers of the namespaces of a handle's states; null for those of timers. */
    static List<TypeSerializer<?>> namespaces(KeyedBackendSerializationProxy<Object> header) {
        List<TypeSerializer<?>> namespaces = new ArrayList<>();
        for (StateMetaInfoSnapshot info : header.getStateMetaInfoSnapshots()) {
            boolean hasNamespace = info.getBackendStateType() == BackendStateType.KEY_VALUE;
            namespaces.add(hasNamespace ? serializer(info, CommonSerializerKeys.NAMESPACE_SERIALIZER) : null);
        }
        return namespaces;
    }

    private void readGroups(KeyGroupsStateHandle handle) throws Exception {
        try (FSDataInputStream stream = handle.openInputStream()) {
            KeyedBackendSerializationProxy<Object> header = new KeyedBackendSerializationProxy<>(classes);
            readHeader(header, handle, stream);
            List<StateTable> states = declare(header);
            List<TypeSerializer<?>> namespaces = namespaces(header);
            boolean isHeap = isHeap(handle, stream);
            for (int group : handle.getKeyGroupRange()) {
                long offset = handle.getOffsetForKeyGroup(group);
                if (offset == 0) {
                    continue;
                }
                stream.seek(offset);
                if (isHeap && new DataInputStream(stream).readInt() != group) {
                    throw new UnreadableException("key group " + group + " is not where it should be");
                }
                InputStream content =
                        header.isUsingKeyGroupCompression()
                                ? SnappyStreamCompressionDecorator.INSTANCE.decorateWithCompression(stream)
                                : new java.io.BufferedInputStream(stream, 1 << 16);
                if (isHeap) {
                    readHeap(new DataInputViewStreamWrapper(content), states);
                } else {
                    readFull(new DataInputViewStreamWrapper(content), states, namespaces);
                }
            }
        }
    }

    /** Raises {@link UnknownSerializerException} for a handle of a savepoint that can be carried as it is. */
    private static void readHeader(
            KeyedBackendSerializationProxy<Object> header, KeyGroupsStateHandle handle, FSDataInputStream stream)
            throws IOException {
        try {
            header.read(new DataInputViewStreamWrapper(stream));
        } catch (IOException e) {
            boolean isCanonical = handle instanceof org.apache.flink.runtime.state.SavepointKeyedStateHandle;
            throw isCanonical ? UnknownSerializerException.of(e) : e;
        }
    }

    /**
     * Whether the heap backend wrote a handle in its own form. There a key group begins with its number, else with the
     * number of a state as a {@code short} and the length of a key.
     */
    private static boolean isHeap(KeyGroupsStateHandle handle, FSDataInputStream stream) throws IOException {
        if (handle instanceof org.apache.flink.runtime.state.SavepointKeyedStateHandle) {
            return false;
        }
        for (int group : handle.getKeyGroupRange()) {
            long offset = handle.getOffsetForKeyGroup(group);
            if (offset != 0 && group != 0) {
                stream.seek(offset);
                return new DataInputStream(stream).readInt() == group;
            }
        }
        return true;
    }

    /** Reads a key group in the form that all backends share: entries by state, as RocksDB has them. */
    private void readFull(DataInputView in, List<StateTable> states, List<TypeSerializer<?>> namespaces)
            throws IOException {
        int prefix = computeRequiredBytesInKeyGroupPrefix(maxParallelism);
        int state = in.readUnsignedShort();
        DataInputDeserializer keyIn = new DataInputDeserializer();
        while (state != END_OF_KEY_GROUP) {
            byte[] keyBytes = readBytes(in);
            byte[] value = readBytes(in);
            boolean isLast = (keyBytes[0] & FIRST_OF_NEXT_STATE) != 0;
            keyBytes[0] &= (byte) ~FIRST_OF_NEXT_STATE;
            keyIn.setBuffer(keyBytes, prefix, keyBytes.length - prefix);
            entry(states.get(state), namespaces.get(state), keyIn, value);
            if (isLast) {
                state = in.readUnsignedShort();
            }
        }
    }

    /** Reads an entry whose key begins behind the key group. */
    void entry(StateTable table, TypeSerializer<?> namespaceSerializer, DataInputDeserializer in, byte[] value)
            throws IOException {
        if (table.kind == StateTable.Kind.TIMERS) {
            table.readTimer(in.readLong() ^ SIGN, in);
            return;
        }
        boolean isAmbiguous = isAmbiguousKeyPossible(keySerializer, namespaceSerializer);
        Object keyValue = readPart(key, in, isAmbiguous);
        Object namespace = readPart(table.namespace, in, isAmbiguous);
        table.readEntry(keyValue, namespace, in, value);
    }

    private static Object readPart(Codec codec, DataInputDeserializer in, boolean hasLength) throws IOException {
        int before = in.getPosition();
        Object part = codec.read(in);
        if (hasLength) {
            readVariableIntBytes(in, in.getPosition() - before);
        }
        return part;
    }

    private static byte[] readBytes(DataInputView in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    /** Reads a key group in the form of the heap backend. */
    private void readHeap(DataInputView in, List<StateTable> states) throws IOException {
        for (int i = 0; i < states.size(); i++) {
            StateTable table = states.get(in.readShort());
            int size = in.readInt();
            for (int n = 0; n < size; n++) {
                if (table.kind == StateTable.Kind.TIMERS) {
                    table.readTimer(in.readLong() ^ SIGN, in);
                } else {
                    Object namespace = table.namespace.read(in);
                    table.readWhole(key.read(in), namespace, in);
                }
            }
        }
    }

    private static final class Timestamps extends Codec {
        @Override
        String type() {
            return "BIGINT";
        }

        @Override
        Vector vector() {
            return new Vector.Fixed(8);
        }

        @Override
        Object read(DataInputView in) throws IOException {
            return in.readLong() ^ SIGN;
        }

        @Override
        void write(Object value, DataOutputView out) throws IOException {
            out.writeLong((Long) value ^ SIGN);
        }

        @Override
        Object present(Vector column, int row) {
            return ((Vector.Fixed) column).get(row);
        }

        @Override
        void append(Object value, Vector column) {
            ((Vector.Fixed) column).append((Long) value);
        }
    }
}

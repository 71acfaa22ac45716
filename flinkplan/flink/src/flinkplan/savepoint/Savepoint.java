package flinkplan.savepoint;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonOptionsKeys;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** A savepoint or retained checkpoint, read into tables and their manifest. */
final class Savepoint {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final CheckpointMetadata metadata;
    private final int version;
    private final ClassLoader classes;
    private final Map<String, String> uids;
    private final Path folder;
    private final ArrayNode remarks = JSON.createArrayNode();
    private final ArrayNode positions = JSON.createArrayNode();
    private int lastTable;

    /**
     * Opens a savepoint.
     *
     * @param pointer the folder of {@code _metadata}, or that file
     * @param uids UIDs by the operator ids in hexadecimal that follow from them
     * @param folder where to write tables to
     */
    Savepoint(String pointer, Map<String, String> uids, Path folder, ClassLoader classes) throws IOException {
        this.classes = classes;
        this.uids = uids;
        this.folder = folder;
        var path = new org.apache.flink.core.fs.Path(pointer);
        var files = path.getFileSystem();
        if (files.getFileStatus(path).isDir()) {
            path = new org.apache.flink.core.fs.Path(path, "_metadata");
        }
        byte[] content;
        try (InputStream in = files.open(path)) {
            content = in.readAllBytes();
        }
        DataInputStream header = stream(content);
        if (header.readInt() != Checkpoints.HEADER_MAGIC_NUMBER) {
            throw new UnreadableException("the file _metadata is not that of a savepoint");
        }
        this.version = header.readInt();
        this.metadata = Checkpoints.loadCheckpointMetadata(stream(content), classes, path.getParent().toString());
    }

    private static DataInputStream stream(byte[] content) {
        return new DataInputStream(new java.io.ByteArrayInputStream(content));
    }

    /** Reads everything; the manifest in JSON, as the neutral form has it. */
    byte[] read() throws Exception {
        ObjectNode manifest = JSON.createObjectNode();
        manifest.put("engine", "flink");
        manifest.put("engineVersion", String.valueOf(version));
        manifest.put("checkpoint", metadata.getCheckpointId());
        ArrayNode operators = manifest.putArray("operators");
        for (OperatorState operator : metadata.getOperatorStates()) {
            operators.add(read(operator));
        }
        if (!metadata.getMasterStates().isEmpty()) {
            remarks.add("the states of the job's master hooks are not read");
        }
        manifest.set("positions", positions);
        manifest.set("remarks", remarks);
        return JSON.writeValueAsBytes(manifest);
    }

    private ObjectNode read(OperatorState operator) throws Exception {
        String hash = operator.getOperatorID().toString();
        String uid = operator.getOperatorUid().orElse(uids.get(hash));
        ObjectNode node = JSON.createObjectNode();
        node.put("hash", hash);
        node.put("uid", uid);
        node.put("parallelism", operator.getParallelism());
        node.put("maxParallelism", operator.getMaxParallelism());
        if (operator.isFullyFinished()) {
            node.put("isFinished", true);
        }
        operator.getOperatorName().ifPresent(name -> node.putObject("writtenBy").put("operatorName", name));
        ArrayNode states = node.putArray("states");
        if (operator.getCoordinatorState() != null) {
            StateTable table = bytesTable(++lastTable, "coordinator", StateTable.Kind.COORDINATOR);
            table.open(folder);
            table.addBytes(0, operator.getCoordinatorState().getData());
            finish(table, states);
        }
        String shown = uid == null ? hash : uid;
        Map<String, StateTable> operatorStates = new HashMap<>();
        List<StateTable> inOrder = new ArrayList<>();
        List<byte[]> splits = new ArrayList<>();
        Map<String, StateTable> handles = new TreeMap<>();
        KeyedState keyed = new KeyedState(operator.getMaxParallelism(), classes, folder, () -> ++lastTable);
        for (Map.Entry<Integer, OperatorSubtaskState> each : new TreeMap<>(operator.getSubtaskStates()).entrySet()) {
            OperatorSubtaskState subtask = each.getValue();
            for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
                try {
                    readOperatorState(each.getKey(), handle, operatorStates, inOrder);
                } catch (UnknownSerializerException e) {
                    handles.computeIfAbsent(StateTable.OPERATOR_STATES, name -> handleTable(name, shown, e))
                            .addBytes(each.getKey(), Handles.packed(handle));
                }
                splits.addAll(splits(handle));
            }
            for (KeyedStateHandle handle : subtask.getManagedKeyedState()) {
                try {
                    keyed.read(handle);
                } catch (UnknownSerializerException e) {
                    handles.computeIfAbsent(StateTable.KEYED_STATES, name -> handleTable(name, shown, e))
                            .addBytes(each.getKey(), Handles.packed((KeyGroupsStateHandle) handle));
                }
            }
            if (!subtask.getRawKeyedState().isEmpty() || !subtask.getRawOperatorState().isEmpty()) {
                remarks.add("raw states of the operator " + shown + " are not read");
            }
            if (!subtask.getInputChannelState().isEmpty() || !subtask.getResultSubpartitionState().isEmpty()) {
                throw new UnreadableException(
                        "it is an unaligned checkpoint: rows are in flight before the operator " + shown);
            }
        }
        if (operator.getCoordinatorState() != null) {
            ObjectNode source = positions.addObject();
            source.put("uid", uid == null ? hash : uid);
            Positions.put(source, operator.getCoordinatorState().getData(), splits);
        }
        for (StateTable table : inOrder) {
            finish(table, states);
        }
        for (StateTable table : keyed.tables()) {
            finish(table, states);
        }
        for (StateTable table : handles.values()) {
            finish(table, states);
        }
        return node;
    }

    /** A table of bytes that are carried as they are. */
    static StateTable bytesTable(int number, String name, StateTable.Kind kind) {
        StateTable table = new StateTable(number, name, kind, null);
        table.value = SerializerCodec.of(BytePrimitiveArraySerializer.INSTANCE);
        return table;
    }

    /** A table of handles that are carried as they are, for the sake of a serializer. */
    private StateTable handleTable(String name, String operator, UnknownSerializerException reason) {
        StateTable table = bytesTable(++lastTable, name, StateTable.Kind.HANDLE);
        table.unknownSerializer = reason.serializer;
        table.open(folder);
        remarks.add("the " + name + " of the operator " + operator + " are not decoded: there is no " + reason.serializer);
        return table;
    }

    private void readOperatorState(
            int subtask, OperatorStateHandle handle, Map<String, StateTable> known, List<StateTable> inOrder)
            throws IOException {
        try (FSDataInputStream stream = handle.openInputStream()) {
            OperatorBackendSerializationProxy header = new OperatorBackendSerializationProxy(classes);
            try {
                header.read(new DataInputViewStreamWrapper(stream));
            } catch (IOException e) {
                throw UnknownSerializerException.of(e);
            }
            for (StateMetaInfoSnapshot info : header.getOperatorStateMetaInfoSnapshots()) {
                var serializer =
                        info.getTypeSerializerSnapshot(CommonSerializerKeys.VALUE_SERIALIZER).restoreSerializer();
                String mode = info.getOption(CommonOptionsKeys.OPERATOR_STATE_DISTRIBUTION_MODE);
                StateTable table = known.get(info.getName());
                if (table == null) {
                    StateTable.Kind kind =
                            "UNION".equals(mode) ? StateTable.Kind.OPERATOR_UNION : StateTable.Kind.OPERATOR_LIST;
                    table = new StateTable(++lastTable, info.getName(), kind, serializer);
                    table.value = SerializerCodec.of(serializer);
                    table.open(folder);
                    known.put(info.getName(), table);
                    inOrder.add(table);
                }
                var offsets = handle.getStateNameToPartitionOffsets().get(info.getName());
                long position = 0;
                for (long offset : offsets == null ? new long[0] : offsets.getOffsets()) {
                    stream.seek(offset);
                    table.readElement(subtask, position++, new DataInputViewStreamWrapper(stream));
                }
            }
            for (StateMetaInfoSnapshot info : header.getBroadcastStateMetaInfoSnapshots()) {
                StateTable table = known.get(info.getName());
                if (table == null) {
                    var value = info.getTypeSerializerSnapshot(CommonSerializerKeys.VALUE_SERIALIZER).restoreSerializer();
                    table = new StateTable(++lastTable, info.getName(), StateTable.Kind.BROADCAST, value);
                    table.mapKeySerializer =
                            info.getTypeSerializerSnapshot(CommonSerializerKeys.KEY_SERIALIZER).restoreSerializer();
                    table.mapKey = SerializerCodec.of(table.mapKeySerializer);
                    table.value = SerializerCodec.of(value);
                    table.open(folder);
                    known.put(info.getName(), table);
                    inOrder.add(table);
                }
                var offsets = handle.getStateNameToPartitionOffsets().get(info.getName());
                if (offsets != null && offsets.getOffsets().length > 0) {
                    stream.seek(offsets.getOffsets()[0]);
                    var in = new DataInputViewStreamWrapper(stream);
                    int size = in.readInt();
                    for (int i = 0; i < size; i++) {
                        table.readElement(subtask, i, in);
                    }
                }
            }
        }
    }

    /** The splits that source readers keep. */
    private static List<byte[]> splits(OperatorStateHandle handle) throws IOException {
        List<byte[]> splits = new ArrayList<>();
        var info = handle.getStateNameToPartitionOffsets().get(Positions.READER_STATE);
        if (info != null) {
            try (FSDataInputStream stream = handle.openInputStream()) {
                for (long offset : info.getOffsets()) {
                    stream.seek(offset);
                    splits.add(BytePrimitiveArraySerializer.INSTANCE.deserialize(new DataInputViewStreamWrapper(stream)));
                }
            }
        }
        return splits;
    }

    private void finish(StateTable table, ArrayNode states) throws IOException {
        table.close();
        ObjectNode node = states.addObject();
        node.put("table", table.number);
        node.put("name", table.name);
        node.put("kind", table.kind.text);
        putColumns(node, "key", table.key);
        if (table.hasNamespace()) {
            putColumns(node, "namespace", table.namespace, "end");
            node.put("namespaceKind", table.namespace.isRow() ? "window" : "window end");
        }
        putColumns(node, "mapKey", table.mapKey);
        putColumns(node, "value", table.value, table.kind == StateTable.Kind.TIMERS ? "timestamp" : Names.VALUE);
        if (!table.unknownSerializer.isEmpty()) {
            ((ObjectNode) node.get("value").get(0)).put("serializer", table.unknownSerializer);
        }
        if (!table.clock.isEmpty()) {
            node.put("clock", table.clock);
        }
        if (table.hasTtl) {
            node.put("time", "accessed");
        }
        node.put("entries", table.entries());
        if (table.valueSerializer != null) {
            ObjectNode written = node.putObject("writtenBy");
            if (!table.type.isEmpty()) {
                written.put("type", table.type);
            }
            Snapshots.put(written, "key", table.keySerializer);
            Snapshots.put(written, "namespace", table.namespaceSerializer);
            Snapshots.put(written, "mapKey", table.mapKeySerializer);
            Snapshots.put(written, "value", table.valueSerializer);
        }
    }

    private static void putColumns(ObjectNode node, String name, Codec codec) {
        putColumns(node, name, codec, Names.VALUE);
    }

    private static void putColumns(ObjectNode node, String name, Codec codec, String single) {
        if (codec == null) {
            return;
        }
        ArrayNode columns = node.putArray(name);
        if (!codec.isRow()) {
            putColumn(columns, single, codec);
        }
        for (Codec.Field field : codec.fields()) {
            putColumn(columns, field.name(), field.codec());
        }
    }

    private static void putColumn(ArrayNode columns, String name, Codec codec) {
        ObjectNode column = columns.addObject();
        column.put("name", name);
        column.put("type", codec.type());
        if (!codec.opaque().isEmpty()) {
            column.put("serializer", codec.opaque());
        }
    }
}

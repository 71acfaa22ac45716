package flinkplan.savepoint;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.FullyFinishedOperatorState;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorBackendSerializationProxy;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.OperatorStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonOptionsKeys;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.StringUtils;

/** Writes tables and their manifest as a canonical savepoint. */
final class SavepointWriter {
    private static final int INLINE_BYTES = 20 * 1024;
    private static final String METADATA = "_metadata";

    private final JsonNode manifest;
    private final Path tables;
    private final Path target;
    private final ClassLoader classes;
    private int files;

    /**
     * Makes a writer.
     *
     * @param manifest in JSON, as the neutral form has it
     * @param tables the folder of the tables
     * @param target the folder of the savepoint, which is there and empty
     */
    SavepointWriter(JsonNode manifest, Path tables, Path target, ClassLoader classes) {
        this.manifest = manifest;
        this.tables = tables;
        this.target = target;
        this.classes = classes;
    }

    /** Writes all. */
    void write() throws Exception {
        List<OperatorState> operators = new ArrayList<>();
        for (JsonNode operator : manifest.get("operators")) {
            operators.add(operator(operator));
        }
        CheckpointProperties properties = CheckpointProperties.forSavepoint(false, SavepointFormatType.CANONICAL);
        long id = manifest.path("checkpoint").asLong(1);
        CheckpointMetadata metadata = new CheckpointMetadata(id, operators, List.of(), properties);
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(target.resolve(METADATA))))) {
            Checkpoints.storeCheckpointMetadata(metadata, out);
        }
    }

    private OperatorState operator(JsonNode node) throws Exception {
        String uid = node.path("uid").asText(null);
        String hash = node.path("hash").asText(null);
        byte[] id = StringUtils.hexStringToByte(hash == null ? OperatorIds.of(uid) : hash);
        int parallelism = node.path("parallelism").asInt(1);
        int maxParallelism = node.path("maxParallelism").asInt(128);
        String name = node.path("writtenBy").path("operatorName").asText(null);
        if (node.path("isFinished").asBoolean(false)) {
            return new FullyFinishedOperatorState(name, uid, new OperatorID(id), parallelism, maxParallelism);
        }
        OperatorState operator = new OperatorState(name, uid, new OperatorID(id), parallelism, maxParallelism);
        List<StateTable> keyed = new ArrayList<>();
        List<StateTable> perSubtask = new ArrayList<>();
        Map<Integer, KeyGroupsSavepointStateHandle> carried = new HashMap<>();
        Map<Integer, OperatorStateHandle> carriedStates = new HashMap<>();
        for (JsonNode state : node.get("states")) {
            StateTable table = table(state);
            if (table.kind == StateTable.Kind.COORDINATOR) {
                table.forEachBytes(
                        tables,
                        (subtask, bytes) ->
                                operator.setCoordinatorState(new ByteStreamStateHandle("coordinator", bytes)));
            } else if (table.kind == StateTable.Kind.HANDLE) {
                boolean isKeyed = table.name.equals(StateTable.KEYED_STATES);
                table.forEachBytes(
                        tables,
                        (subtask, bytes) -> {
                            if (isKeyed) {
                                Handles.unpackKeyGroups(bytes, (offsets, content) -> carried.put(
                                        subtask, new KeyGroupsSavepointStateHandle(offsets, written(content))));
                            } else {
                                Handles.unpackStates(bytes, (states, content) -> carriedStates.put(
                                        subtask, new OperatorStreamStateHandle(states, written(content))));
                            }
                        });
            } else {
                (table.kind.isKeyed() ? keyed : perSubtask).add(table);
            }
        }
        byte[] coordinator = operator.getCoordinatorState() == null ? coordinator(uid) : null;
        if (coordinator != null) {
            operator.setCoordinatorState(new ByteStreamStateHandle("coordinator", coordinator));
        }
        Map<Integer, OperatorStateHandle> operatorStates =
                perSubtask.isEmpty() ? carriedStates : operatorStates(perSubtask, parallelism);
        List<byte[]> readers = coordinator == null ? List.of() : Positions.readers(position(uid));
        if (!readers.isEmpty()) {
            operatorStates.put(0, readers(readers));
        }
        if (!keyed.isEmpty() && !carried.isEmpty() || !perSubtask.isEmpty() && !carriedStates.isEmpty()) {
            throw new UnreadableException("some states of the operator " + uid + " are not decoded, others are");
        }
        Map<Integer, KeyGroupsSavepointStateHandle> keyedStates =
                keyed.isEmpty() ? carried : keyedStates(keyed, parallelism, maxParallelism);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            OperatorSubtaskState.Builder state = OperatorSubtaskState.builder();
            if (operatorStates.containsKey(subtask)) {
                state.setManagedOperatorState(operatorStates.get(subtask));
            }
            if (keyedStates.containsKey(subtask)) {
                state.setManagedKeyedState(keyedStates.get(subtask));
            }
            operator.putState(subtask, state.build());
        }
        return operator;
    }

    private StreamStateHandle written(InputStream content) throws IOException {
        Output out = new Output();
        content.transferTo(out.view);
        return out.close();
    }

    /** What the coordinator of a source keeps by the positions of the manifest; null where it has none of it. */
    private byte[] coordinator(String uid) throws IOException {
        JsonNode source = position(uid);
        return source == null ? null : Positions.coordinator(source);
    }

    /** The positions of the source of this UID in the manifest; null where it has none of it. */
    private JsonNode position(String uid) {
        for (JsonNode source : manifest.path("positions")) {
            if (source.path("uid").asText().equals(uid)) {
                return source;
            }
        }
        return null;
    }

    /** The state of a reader with these splits. */
    private OperatorStateHandle readers(List<byte[]> splits) throws IOException {
        BytePrimitiveArraySerializer serializer = BytePrimitiveArraySerializer.INSTANCE;
        StateTable state = new StateTable(0, Positions.READER_STATE, StateTable.Kind.OPERATOR_LIST, serializer);
        Output out = new Output();
        new OperatorBackendSerializationProxy(List.of(operatorInfo(state)), List.of(), false).write(out.view);
        long[] offsets = new long[splits.size()];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = out.position();
            serializer.serialize(splits.get(i), out.view);
        }
        var info = new OperatorStateHandle.StateMetaInfo(offsets, mode(state));
        return new OperatorStreamStateHandle(new HashMap<>(Map.of(state.name, info)), out.close());
    }

    private StateTable table(JsonNode node) throws IOException {
        int number = node.get("table").asInt();
        String name = node.get("name").asText();
        String kind = node.get("kind").asText();
        JsonNode written = node.path("writtenBy");
        for (StateTable.Kind bytes : List.of(StateTable.Kind.COORDINATOR, StateTable.Kind.HANDLE)) {
            if (kind.equals(bytes.text)) {
                return Savepoint.bytesTable(number, name, bytes);
            }
        }
        TypeSerializer<?> value = Snapshots.read(written.get("value"), classes);
        if (value == null) {
            throw new UnreadableException("it is not known how Flink writes the state " + name);
        }
        if (kind.equals(StateTable.Kind.TIMERS.text)) {
            return KeyedState.timers(number, name, Snapshots.read(written.get("key"), classes), (TimerSerializer<?, ?>) value);
        }
        for (StateTable.Kind each : StateTable.Kind.values()) {
            if (each.text.equals(kind) && !each.isKeyed()) {
                StateTable table = new StateTable(number, name, each, value);
                table.value = SerializerCodec.of(value);
                table.mapKeySerializer = Snapshots.read(written.get("mapKey"), classes);
                table.mapKey = table.mapKeySerializer == null ? null : SerializerCodec.of(table.mapKeySerializer);
                return table;
            }
        }
        return KeyedState.table(
                number,
                name,
                written.get("type").asText(),
                Snapshots.read(written.get("key"), classes),
                Snapshots.read(written.get("namespace"), classes),
                value);
    }

    private Map<Integer, OperatorStateHandle> operatorStates(List<StateTable> states, int parallelism)
            throws IOException {
        Map<Integer, OperatorStateHandle> handles = new HashMap<>();
        if (states.isEmpty()) {
            return handles;
        }
        List<StateMetaInfoSnapshot> lists = new ArrayList<>();
        List<StateMetaInfoSnapshot> broadcasts = new ArrayList<>();
        for (StateTable state : states) {
            (state.kind == StateTable.Kind.BROADCAST ? broadcasts : lists).add(operatorInfo(state));
        }
        Map<Integer, Map<StateTable, List<byte[]>>> elements = new TreeMap<>();
        for (StateTable state : states) {
            state.forEachElement(
                    tables,
                    (subtask, bytes) ->
                            elements.computeIfAbsent(subtask, s -> new HashMap<>())
                                    .computeIfAbsent(state, s -> new ArrayList<>())
                                    .add(bytes));
        }
        for (int subtask = 0; subtask < parallelism; subtask++) {
            Map<StateTable, List<byte[]>> own = elements.getOrDefault(subtask, Map.of());
            Output out = new Output();
            new OperatorBackendSerializationProxy(lists, broadcasts, false).write(out.view);
            Map<String, OperatorStateHandle.StateMetaInfo> infos = new LinkedHashMap<>();
            for (StateTable state : states) {
                List<byte[]> written = own.getOrDefault(state, List.of());
                boolean isBroadcast = state.kind == StateTable.Kind.BROADCAST;
                long[] offsets = new long[isBroadcast ? 1 : written.size()];
                if (isBroadcast) {
                    offsets[0] = out.position();
                    out.view.writeInt(written.size());
                }
                for (int i = 0; i < written.size(); i++) {
                    if (!isBroadcast) {
                        offsets[i] = out.position();
                    }
                    out.view.write(written.get(i));
                }
                infos.put(state.name, new OperatorStateHandle.StateMetaInfo(offsets, mode(state)));
            }
            handles.put(subtask, new OperatorStreamStateHandle(infos, out.close()));
        }
        return handles;
    }

    private static OperatorStateHandle.Mode mode(StateTable state) {
        return switch (state.kind) {
            case OPERATOR_UNION -> OperatorStateHandle.Mode.UNION;
            case BROADCAST -> OperatorStateHandle.Mode.BROADCAST;
            default -> OperatorStateHandle.Mode.SPLIT_DISTRIBUTE;
        };
    }

    private static StateMetaInfoSnapshot operatorInfo(StateTable state) {
        boolean isBroadcast = state.kind == StateTable.Kind.BROADCAST;
        Map<String, TypeSerializer<?>> serializers = new HashMap<>();
        serializers.put(CommonSerializerKeys.VALUE_SERIALIZER.toString(), state.valueSerializer);
        if (isBroadcast) {
            serializers.put(CommonSerializerKeys.KEY_SERIALIZER.toString(), state.mapKeySerializer);
        }
        Map<String, String> options =
                Map.of(CommonOptionsKeys.OPERATOR_STATE_DISTRIBUTION_MODE.toString(), mode(state).toString());
        BackendStateType type = isBroadcast ? BackendStateType.BROADCAST : BackendStateType.OPERATOR;
        return info(state.name, type, options, serializers);
    }

    private static StateMetaInfoSnapshot keyedInfo(StateTable state) {
        if (state.kind == StateTable.Kind.TIMERS) {
            return info(
                    state.name,
                    BackendStateType.PRIORITY_QUEUE,
                    Map.of(),
                    Map.of(CommonSerializerKeys.VALUE_SERIALIZER.toString(), state.valueSerializer));
        }
        return info(
                state.name,
                BackendStateType.KEY_VALUE,
                Map.of(CommonOptionsKeys.KEYED_STATE_TYPE.toString(), state.type),
                Map.of(
                        CommonSerializerKeys.NAMESPACE_SERIALIZER.toString(), state.namespaceSerializer,
                        CommonSerializerKeys.VALUE_SERIALIZER.toString(), state.valueSerializer));
    }

    private static StateMetaInfoSnapshot info(
            String name,
            BackendStateType type,
            Map<String, String> options,
            Map<String, TypeSerializer<?>> serializers) {
        Map<String, TypeSerializerSnapshot<?>> snapshots = new HashMap<>();
        serializers.forEach((key, serializer) -> snapshots.put(key, serializer.snapshotConfiguration()));
        return new StateMetaInfoSnapshot(name, type, options, snapshots, serializers);
    }

    @SuppressWarnings("unchecked")
    private Map<Integer, KeyGroupsSavepointStateHandle> keyedStates(
            List<StateTable> states, int parallelism, int maxParallelism) throws IOException {
        Map<Integer, KeyGroupsSavepointStateHandle> handles = new HashMap<>();
        if (states.isEmpty()) {
            return handles;
        }
        List<StateMetaInfoSnapshot> infos = states.stream().map(SavepointWriter::keyedInfo).toList();
        TypeSerializer<Object> key = (TypeSerializer<Object>) states.get(0).keySerializer;
        try (KeyGroups groups = new KeyGroups(maxParallelism, tables)) {
            for (int i = 0; i < states.size(); i++) {
                groups.add(i, states.get(i), tables);
            }
            for (int subtask = 0; subtask < parallelism; subtask++) {
                KeyGroupRange range =
                        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                                maxParallelism, parallelism, subtask);
                KeyGroupRangeOffsets offsets = new KeyGroupRangeOffsets(range);
                Output out = new Output();
                new KeyedBackendSerializationProxy<>(key, infos, false).write(out.view);
                for (int group : range) {
                    long start = out.position();
                    if (groups.write(group, out.view)) {
                        offsets.setKeyGroupOffset(group, start);
                    }
                }
                handles.put(subtask, new KeyGroupsSavepointStateHandle(offsets, out.close()));
            }
        }
        return handles;
    }

    /** A file of the savepoint, which stays in the metadata as long as it is small. */
    private final class Output {
        private final Path file = target.resolve("state-" + files++);
        private final java.io.ByteArrayOutputStream first = new java.io.ByteArrayOutputStream();
        private OutputStream rest;
        private long written;
        final DataOutputViewStreamWrapper view = new DataOutputViewStreamWrapper(new BufferedOutputStream(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                written += length;
                if (rest == null && written <= INLINE_BYTES) {
                    first.write(bytes, offset, length);
                    return;
                }
                if (rest == null) {
                    rest = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
                    first.writeTo(rest);
                }
                rest.write(bytes, offset, length);
            }
        }, 1 << 12));

        long position() throws IOException {
            view.flush();
            return written;
        }

        StreamStateHandle close() throws IOException {
            view.flush();
            if (rest == null) {
                return new ByteStreamStateHandle(file.getFileName().toString(), first.toByteArray());
            }
            rest.close();
            var path = new org.apache.flink.core.fs.Path(file.toUri());
            return new RelativeFileStateHandle(path, file.getFileName().toString(), written);
        }
    }
}

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.state.rocksdb.RocksDBKeyedStateBackendBuilder;
import org.apache.flink.state.rocksdb.RocksDBPriorityQueueConfig;
import org.apache.flink.state.rocksdb.RocksDBResourceContainer;
import org.rocksdb.ColumnFamilyOptions;

/**
 * Restores the keyed states of savepoints in Flink's own backends, and has these write checkpoints in their own form.
 *
 * <p>Arguments come in groups of four: the savepoint, the folder to write, {@code heap}, {@code compressed} or {@code
 * rocksdb}, and the parallelism.
 */
public final class NativeSavepoint {
    private static final int MOST_BYTES = 10 << 20;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < args.length; i += 4) {
            write(args[i], args[i + 1], args[i + 2], Integer.parseInt(args[i + 3]));
        }
    }

    private static void write(String from, String to, String backend, int parallelism) throws Exception {
        ClassLoader classes = NativeSavepoint.class.getClassLoader();
        CheckpointMetadata metadata;
        try (DataInputStream in = new DataInputStream(new FileInputStream(from + "/_metadata"))) {
            metadata = Checkpoints.loadCheckpointMetadata(in, classes, from);
        }
        List<OperatorState> operators = new ArrayList<>();
        for (OperatorState operator : metadata.getOperatorStates()) {
            operators.add(rewritten(operator, backend, parallelism));
        }
        new File(to).mkdirs();
        try (DataOutputStream out = new DataOutputStream(new FileOutputStream(to + "/_metadata"))) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(
                            metadata.getCheckpointId(), operators, List.of(), metadata.getCheckpointProperties()),
                    out);
        }
    }

    private static OperatorState rewritten(OperatorState operator, String backend, int parallelism) throws Exception {
        OperatorState written =
                new OperatorState(
                        operator.getOperatorName().orElse(null),
                        operator.getOperatorUid().orElse(null),
                        operator.getOperatorID(),
                        parallelism,
                        operator.getMaxParallelism());
        written.setCoordinatorState(operator.getCoordinatorState());
        List<KeyedStateHandle> handles = new ArrayList<>();
        Map<Integer, OperatorSubtaskState> subtasks = new TreeMap<>(operator.getSubtaskStates());
        subtasks.values().forEach(subtask -> handles.addAll(subtask.getManagedKeyedState()));
        for (int i = 0; i < parallelism; i++) {
            OperatorSubtaskState old = subtasks.get(i);
            OperatorSubtaskState.Builder state =
                    old == null ? OperatorSubtaskState.builder() : old.toBuilder();
            state.setManagedKeyedState(StateObjectCollection.empty());
            if (!handles.isEmpty()) {
                KeyGroupRange range =
                        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                                operator.getMaxParallelism(), parallelism, i);
                state.setManagedKeyedState(snapshot(handles, operator.getMaxParallelism(), range, backend));
            }
            written.putState(i, state.build());
        }
        return written;
    }

    private static KeyedStateHandle snapshot(
            List<KeyedStateHandle> handles, int maxParallelism, KeyGroupRange range, String backend) throws Exception {
        ClassLoader classes = NativeSavepoint.class.getClassLoader();
        KeyedBackendSerializationProxy<Object> header = new KeyedBackendSerializationProxy<>(classes);
        try (var in = ((StreamStateHandle) handles.get(0)).openInputStream()) {
            header.read(new DataInputViewStreamWrapper(in));
        }
        TypeSerializer<Object> key = header.getKeySerializerSnapshot().restoreSerializer();
        List<KeyedStateHandle> own = new ArrayList<>();
        for (KeyedStateHandle handle : handles) {
            own.add(handle.getIntersection(range));
        }
        AbstractKeyedStateBackend<Object> state =
                backend.equals("rocksdb")
                        ? rocks(own, key, maxParallelism, range)
                        : heap(own, key, maxParallelism, range, backend.equals("compressed"));
        try {
            RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                    state.snapshot(
                            1,
                            1,
                            new MemCheckpointStreamFactory(MOST_BYTES),
                            CheckpointOptions.forCheckpointWithDefaultLocation());
            future.run();
            return future.get().getJobManagerOwnedSnapshot();
        } finally {
            state.dispose();
        }
    }

    private static AbstractKeyedStateBackend<Object> heap(
            List<KeyedStateHandle> handles,
            TypeSerializer<Object> key,
            int maxParallelism,
            KeyGroupRange range,
            boolean isCompressed)
            throws Exception {
        StreamCompressionDecorator compression =
                isCompressed
                        ? SnappyStreamCompressionDecorator.INSTANCE
                        : UncompressedStreamCompressionDecorator.INSTANCE;
        return new HeapKeyedStateBackendBuilder<>(
                        null,
                        key,
                        NativeSavepoint.class.getClassLoader(),
                        maxParallelism,
                        range,
                        new ExecutionConfig(),
                        TtlTimeProvider.DEFAULT,
                        LatencyTrackingStateConfig.disabled(),
                        SizeTrackingStateConfig.disabled(),
                        handles,
                        compression,
                        LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                        new HeapPriorityQueueSetFactory(range, maxParallelism, 128),
                        true,
                        new CloseableRegistry())
                .build();
    }

    private static AbstractKeyedStateBackend<Object> rocks(
            List<KeyedStateHandle> handles, TypeSerializer<Object> key, int maxParallelism, KeyGroupRange range)
            throws Exception {
        org.rocksdb.RocksDB.loadLibrary();
        return new RocksDBKeyedStateBackendBuilder<>(
                        "test",
                        NativeSavepoint.class.getClassLoader(),
                        Files.createTempDirectory("rocksdb").toFile(),
                        new RocksDBResourceContainer(),
                        name -> new ColumnFamilyOptions(),
                        null,
                        key,
                        maxParallelism,
                        range,
                        new ExecutionConfig(),
                        LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                        RocksDBPriorityQueueConfig.buildWithPriorityQueueType(
                                org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend.PriorityQueueStateType
                                        .ROCKSDB),
                        TtlTimeProvider.DEFAULT,
                        LatencyTrackingStateConfig.disabled(),
                        SizeTrackingStateConfig.disabled(),
                        new UnregisteredMetricsGroup(),
                        (name, value) -> {},
                        handles,
                        UncompressedStreamCompressionDecorator.INSTANCE,
                        new CloseableRegistry())
                .build();
    }
}

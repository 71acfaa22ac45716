package flinkplan.savepoint;

import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix;
import static org.apache.flink.runtime.state.CompositeKeySerializationUtils.extractKeyGroup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Keyed state as the files of RocksDB: native savepoints and incremental checkpoints. */
final class RocksState {
    /** The merge operator by which Flink appends to lists. */
    private static final String MERGE_OPERATOR = "stringappendtest";

    private static final Pattern FILE_NAME = Pattern.compile("[\\w-][\\w.-]*");

    private RocksState() {}

    /** Reads a handle into the tables of an operator. */
    static void read(
            IncrementalRemoteKeyedStateHandle handle,
            KeyedState state,
            int maxParallelism,
            ClassLoader classes,
            Path folder)
            throws Exception {
        KeyedBackendSerializationProxy<Object> header = new KeyedBackendSerializationProxy<>(classes);
        try (InputStream in = handle.getMetaDataStateHandle().openInputStream()) {
            header.read(new DataInputViewStreamWrapper(in));
        }
        List<StateTable> tables = state.declare(header);
        List<TypeSerializer<?>> namespaces = KeyedState.namespaces(header);
        Path database = Files.createTempDirectory(folder, "rocksdb-");
        try {
            copy(handle.getSharedState(), database);
            copy(handle.getPrivateState(), database);
            Map<String, Integer> numbers = new HashMap<>();
            List<StateMetaInfoSnapshot> infos = header.getStateMetaInfoSnapshots();
            for (int i = 0; i < infos.size(); i++) {
                numbers.put(infos.get(i).getName(), i);
            }
            open(database, (name, key, value) -> {
                Integer number = numbers.get(name);
                int prefix = computeRequiredBytesInKeyGroupPrefix(maxParallelism);
                if (number != null && handle.getKeyGroupRange().contains(extractKeyGroup(prefix, key))) {
                    DataInputDeserializer in = new DataInputDeserializer(key, prefix, key.length - prefix);
                    state.entry(tables.get(number), namespaces.get(number), in, value);
                }
            });
        } finally {
            delete(database);
        }
    }

    private interface Entries {
        void take(String columnFamily, byte[] key, byte[] value) throws IOException;
    }

    private static void copy(List<HandleAndLocalPath> files, Path database) throws IOException {
        for (HandleAndLocalPath file : files) {
            if (!FILE_NAME.matcher(file.getLocalPath()).matches()) {
                throw new UnreadableException("a file of RocksDB is called " + file.getLocalPath());
            }
            try (InputStream in = file.getHandle().openInputStream()) {
                Files.copy(in, database.resolve(file.getLocalPath()));
            }
        }
    }

    private static void open(Path database, Entries entries) throws IOException, RocksDBException {
        RocksDB.loadLibrary();
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (Options options = new Options();
                DBOptions dbOptions = new DBOptions();
                ColumnFamilyOptions familyOptions = new ColumnFamilyOptions().setMergeOperatorName(MERGE_OPERATOR);
                ReadOptions reading = new ReadOptions().setReadaheadSize(2L << 20)) {
            List<byte[]> names = RocksDB.listColumnFamilies(options, database.toString());
            List<ColumnFamilyDescriptor> families =
                    names.stream().map(name -> new ColumnFamilyDescriptor(name, familyOptions)).toList();
            try (RocksDB db = RocksDB.openReadOnly(dbOptions, database.toString(), families, handles)) {
                for (int i = 0; i < handles.size(); i++) {
                    String name = new String(names.get(i), StandardCharsets.UTF_8);
                    try (RocksIterator rows = db.newIterator(handles.get(i), reading)) {
                        for (rows.seekToFirst(); rows.isValid(); rows.next()) {
                            entries.take(name, rows.key(), rows.value());
                        }
                        rows.status();
                    }
                }
                handles.forEach(ColumnFamilyHandle::close);
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}

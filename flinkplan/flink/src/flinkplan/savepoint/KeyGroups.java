package flinkplan.savepoint;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * The entries of keyed states, brought together by key group.
 *
 * <p>They wait in files, each of which holds the key groups of a range, and are sorted one file at a time: more entries
 * than there is memory for can be written.
 */
final class KeyGroups implements Closeable {
    private static final int MOST_FILES = 256;
    private static final int END_OF_KEY_GROUP = 0xFFFF;
    private static final int FIRST_OF_NEXT_STATE = 0x80;
    private static final byte SEPARATOR = ',';

    private record Entry(int group, int state, byte[] key, long position, byte[] value) {}

    private final int maxParallelism;
    private final int groupsInFile;
    private final Path folder;
    private final DataOutputStream[] files;
    private final List<StateTable> states = new ArrayList<>();
    private List<Entry> loaded = List.of();
    private int loadedFile = -1;
    private int next;

    KeyGroups(int maxParallelism, Path folder) throws IOException {
        this.maxParallelism = maxParallelism;
        this.groupsInFile = (maxParallelism + MOST_FILES - 1) / MOST_FILES;
        this.folder = Files.createTempDirectory(folder, "groups-");
        this.files = new DataOutputStream[(maxParallelism + groupsInFile - 1) / groupsInFile];
    }

    /** Adds the entries of a state under its number. */
    void add(int state, StateTable table, Path tables) throws IOException {
        states.add(table);
        table.forEachEntry(
                tables,
                (hash, position, head, stored) -> {
                    int group = KeyGroupRangeAssignment.computeKeyGroupForKeyHash(hash, maxParallelism);
                    DataOutputStream out = file(group / groupsInFile);
                    out.writeShort(group);
                    out.writeShort(state);
                    out.writeLong(position);
                    out.writeInt(head.length());
                    out.write(head.getSharedBuffer(), 0, head.length());
                    out.writeInt(stored.length());
                    out.write(stored.getSharedBuffer(), 0, stored.length());
                });
    }

    private Path path(int file) {
        return folder.resolve(String.valueOf(file));
    }

    private DataOutputStream file(int number) throws IOException {
        if (files[number] == null) {
            files[number] = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(path(number)), 1 << 14));
        }
        return files[number];
    }

    /** Writes the entries of a key group, which come in ascending order; whether there are any. */
    boolean write(int group, DataOutputView out) throws IOException {
        load(group / groupsInFile);
        int first = next;
        while (next < loaded.size() && loaded.get(next).group() == group) {
            next++;
        }
        if (next == first) {
            return false;
        }
        List<Entry> entries = joined(loaded.subList(first, next));
        out.writeShort(entries.get(0).state());
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            boolean isLast = i + 1 == entries.size();
            boolean changes = isLast || entries.get(i + 1).state() != entry.state();
            writeKey(entry, changes, out);
            out.writeInt(entry.value().length);
            out.write(entry.value());
            if (changes) {
                out.writeShort(isLast ? END_OF_KEY_GROUP : entries.get(i + 1).state());
            }
        }
        return true;
    }

    private void writeKey(Entry entry, boolean changes, DataOutputView out) throws IOException {
        int prefix = CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(maxParallelism);
        byte[] key = new byte[prefix + entry.key().length];
        for (int i = 0; i < prefix; i++) {
            key[i] = (byte) (entry.group() >>> 8 * (prefix - 1 - i));
        }
        System.arraycopy(entry.key(), 0, key, prefix, entry.key().length);
        if (changes) {
            key[0] |= (byte) FIRST_OF_NEXT_STATE;
        }
        out.writeInt(key.length);
        out.write(key);
    }

    /** The entries with the elements of each list put together; no key may be there twice. */
    private List<Entry> joined(List<Entry> entries) throws IOException {
        List<Entry> joined = new ArrayList<>();
        for (int i = 0; i < entries.size(); ) {
            Entry entry = entries.get(i);
            int end = i + 1;
            while (end < entries.size() && isSame(entry, entries.get(end))) {
                end++;
            }
            if (end > i + 1) {
                if (states.get(entry.state()).kind != StateTable.Kind.LIST) {
                    throw new UnreadableException(
                            "the state " + states.get(entry.state()).name + " has an entry twice");
                }
                entry = new Entry(entry.group(), entry.state(), entry.key(), 0, list(entries.subList(i, end)));
            }
            joined.add(entry);
            i = end;
        }
        return joined;
    }

    private static boolean isSame(Entry left, Entry right) {
        return left.state() == right.state() && Arrays.equals(left.key(), right.key());
    }

    private static byte[] list(List<Entry> elements) {
        int length = elements.size() - 1;
        for (Entry element : elements) {
            length += element.value().length;
        }
        byte[] bytes = new byte[length];
        int at = 0;
        for (Entry element : elements) {
            System.arraycopy(element.value(), 0, bytes, at, element.value().length);
            at += element.value().length;
            if (at < length) {
                bytes[at++] = SEPARATOR;
            }
        }
        return bytes;
    }

    private void load(int file) throws IOException {
        if (file == loadedFile) {
            return;
        }
        List<Entry> entries = new ArrayList<>();
        if (files[file] != null) {
            files[file].close();
            long size = Files.size(path(file));
            try (DataInputStream in =
                    new DataInputStream(new BufferedInputStream(Files.newInputStream(path(file)), 1 << 16))) {
                for (long read = 0; read < size; ) {
                    int group = in.readUnsignedShort();
                    int state = in.readUnsignedShort();
                    long position = in.readLong();
                    byte[] key = in.readNBytes(in.readInt());
                    byte[] value = in.readNBytes(in.readInt());
                    entries.add(new Entry(group, state, key, position, value));
                    read += 2 + 2 + 8 + 4 + key.length + 4 + value.length;
                }
            }
            Files.delete(path(file));
        }
        entries.sort(
                Comparator.comparingInt(Entry::group)
                        .thenComparingInt(Entry::state)
                        .thenComparing(Entry::key, Arrays::compareUnsigned)
                        .thenComparingLong(Entry::position));
        loaded = entries;
        loadedFile = file;
        next = 0;
    }

    @Override
    public void close() throws IOException {
        for (DataOutputStream file : files) {
            if (file != null) {
                file.close();
            }
        }
        try (var left = Files.list(folder)) {
            for (Path each : left.toList()) {
                Files.delete(each);
            }
        }
        Files.delete(folder);
    }
}

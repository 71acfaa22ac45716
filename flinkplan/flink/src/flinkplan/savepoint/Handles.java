package flinkplan.savepoint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle.StateMetaInfo;

/** Handles that are carried as they are: what they say of where each key group or element begins, and the content. */
final class Handles {
    private Handles() {}

    static byte[] packed(KeyGroupsStateHandle handle) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        KeyGroupRange range = handle.getKeyGroupRange();
        out.writeInt(range.getStartKeyGroup());
        out.writeInt(range.getNumberOfKeyGroups());
        for (int group : range) {
            out.writeLong(handle.getOffsetForKeyGroup(group));
        }
        try (InputStream content = handle.openInputStream()) {
            content.transferTo(out);
        }
        out.flush();
        return bytes.toByteArray();
    }

    static byte[] packed(OperatorStateHandle handle) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(handle.getStateNameToPartitionOffsets().size());
        for (Map.Entry<String, StateMetaInfo> state : handle.getStateNameToPartitionOffsets().entrySet()) {
            out.writeUTF(state.getKey());
            out.writeUTF(state.getValue().getDistributionMode().name());
            out.writeInt(state.getValue().getOffsets().length);
            for (long offset : state.getValue().getOffsets()) {
                out.writeLong(offset);
            }
        }
        try (InputStream content = handle.openInputStream()) {
            content.transferTo(out);
        }
        out.flush();
        return bytes.toByteArray();
    }

    /** Is given the content of a handle. */
    interface Content<T> {
        void take(T offsets, InputStream content) throws IOException;
    }

    static void unpackStates(byte[] packed, Content<Map<String, StateMetaInfo>> content) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(packed));
        Map<String, StateMetaInfo> states = new LinkedHashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            String name = in.readUTF();
            OperatorStateHandle.Mode mode = OperatorStateHandle.Mode.valueOf(in.readUTF());
            states.put(name, new StateMetaInfo(longs(in), mode));
        }
        content.take(states, in);
    }

    private static long[] longs(DataInputStream in) throws IOException {
        long[] longs = new long[in.readInt()];
        for (int i = 0; i < longs.length; i++) {
            longs[i] = in.readLong();
        }
        return longs;
    }

    static void unpackKeyGroups(byte[] packed, Content<KeyGroupRangeOffsets> content) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(packed));
        int start = in.readInt();
        long[] offsets = longs(in);
        content.take(new KeyGroupRangeOffsets(KeyGroupRange.of(start, start + offsets.length - 1), offsets), in);
    }
}

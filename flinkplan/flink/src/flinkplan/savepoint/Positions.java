package flinkplan.savepoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.FileSourceSplitSerializer;
import org.apache.flink.connector.file.src.PendingSplitsCheckpoint;
import org.apache.flink.connector.file.src.PendingSplitsCheckpointSerializer;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** How far a source has been read, from what its coordinator and its readers keep. */
final class Positions {
    /** The name of the state of source readers. */
    static final String READER_STATE = "SourceReaderState";

    private static final String FILES = "filesystem";
    private static final String KAFKA = "kafka";
    private static final int COORDINATOR_VERSION = 1;
    /** The version of a partition of Kafka, as {@code KafkaPartitionSplitSerializer} has it. */
    private static final int KAFKA_SPLIT_VERSION = 0;
    /** The version of a list of partitions, as {@code KafkaSourceEnumStateSerializer} has it. */
    private static final int KAFKA_ASSIGNED_VERSION = 1;
    /** The lowest of the numbers that stand for an offset that the broker is still to be asked for. */
    private static final int COMMITTED = -3;

    private static final long NO_END = Long.MIN_VALUE;
    private static final Pattern TOPIC = Pattern.compile("[\\w.-]{1,249}");

    private Positions() {}

    /**
     * Adds the positions of a source.
     *
     * @param coordinator what the coordinator keeps
     * @param readers what the readers keep: a split each
     */
    static void put(ObjectNode source, byte[] coordinator, List<byte[]> readers) {
        try {
            if (putFiles(source, coordinator, readers) || putTopics(source, readers)) {
                return;
            }
        } catch (IOException | RuntimeException | NoClassDefFoundError e) {
            // another connector's, or a class of another release
        }
        source.remove("splits");
        source.put("connector", "");
        source.put("isKnown", false);
    }

    /**
     * What the coordinator of a source keeps that has read so far; null where its connector is not known.
     *
     * @param source its positions, as the neutral form has them
     */
    static byte[] coordinator(JsonNode source) throws IOException {
        return switch (source.path("connector").asText()) {
            case FILES -> filesCoordinator(source);
            case KAFKA -> partitionsCoordinator(source);
            default -> null;
        };
    }

    /** The splits that the readers of a source keep: partitions of Kafka; of files the coordinator has all. */
    static List<byte[]> readers(JsonNode source) throws IOException {
        List<byte[]> readers = new ArrayList<>();
        if (!source.path("connector").asText().equals(KAFKA)) {
            return readers;
        }
        for (JsonNode split : source.path("splits")) {
            DataOutputSerializer partition = new DataOutputSerializer(64);
            partition.writeUTF(split.get("name").asText());
            partition.writeInt(split.get("partition").asInt());
            partition.writeLong(split.get("offset").asLong());
            partition.writeLong(split.has("end") ? split.get("end").asLong() : NO_END);
            readers.add(versioned(KAFKA_SPLIT_VERSION, partition.getCopyOfBuffer()));
        }
        return readers;
    }

    /** The partitions that readers have; those that are new begin with the earliest offset. */
    private static byte[] partitionsCoordinator(JsonNode source) throws IOException {
        DataOutputSerializer assigned = new DataOutputSerializer(64);
        assigned.writeInt(source.path("splits").size());
        for (JsonNode split : source.path("splits")) {
            assigned.writeUTF(split.get("name").asText());
            assigned.writeInt(split.get("partition").asInt());
        }
        return coordinator(KAFKA_ASSIGNED_VERSION, assigned.getCopyOfBuffer());
    }

    private static byte[] coordinator(int version, byte[] enumerator) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(enumerator.length + 12);
        out.writeInt(COORDINATOR_VERSION);
        out.write(versioned(version, enumerator));
        return out.getCopyOfBuffer();
    }

    private static byte[] versioned(int version, byte[] content) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(content.length + 8);
        out.writeInt(version);
        out.writeInt(content.length);
        out.write(content);
        return out.getCopyOfBuffer();
    }

    private static byte[] filesCoordinator(JsonNode source) throws IOException {
        List<Path> done = new ArrayList<>();
        List<FileSourceSplit> open = new ArrayList<>();
        for (JsonNode split : source.path("splits")) {
            Path path = new Path(split.get("name").asText());
            if (!done.contains(path)) {
                done.add(path);
            }
            if (!split.path("isDone").asBoolean()) {
                open.add(split(path, split, open.size()));
            }
        }
        var serializer = new PendingSplitsCheckpointSerializer<>(FileSourceSplitSerializer.INSTANCE);
        byte[] enumerator = serializer.serialize(PendingSplitsCheckpoint.fromCollectionSnapshot(open, done));
        return coordinator(serializer.getVersion(), enumerator);
    }

    private static FileSourceSplit split(Path path, JsonNode split, int number) {
        long end = split.get("end").asLong();
        long records = split.path("recordsAfterOffset").asLong();
        long offset = split.path("offset").asLong();
        CheckpointedPosition position =
                offset == 0 && records == 0
                        ? null
                        : new CheckpointedPosition(offset == 0 ? CheckpointedPosition.NO_OFFSET : offset, records);
        return new FileSourceSplit(
                String.format("%010d", number + 1), path, 0, end, 0, end, new String[0], position);
    }

    private static boolean putFiles(ObjectNode source, byte[] coordinator, List<byte[]> readers) throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(coordinator);
        if (coordinator.length < 16 || in.readInt() != COORDINATOR_VERSION) {
            return false;
        }
        int version = in.readInt();
        byte[] enumerator = new byte[in.readInt()];
        in.readFully(enumerator);
        PendingSplitsCheckpoint<FileSourceSplit> pending;
        try {
            pending =
                    new PendingSplitsCheckpointSerializer<>(FileSourceSplitSerializer.INSTANCE)
                            .deserialize(version, enumerator);
        } catch (IOException e) {
            return false;
        }
        List<FileSourceSplit> splits = new ArrayList<>();
        for (byte[] reader : readers) { // what has been begun comes before what has not
            DataInputDeserializer split = new DataInputDeserializer(reader);
            int splitVersion = split.readInt();
            byte[] bytes = new byte[split.readInt()];
            split.readFully(bytes);
            splits.add(FileSourceSplitSerializer.INSTANCE.deserialize(splitVersion, bytes));
        }
        splits.addAll(pending.getSplits());
        source.put("connector", FILES);
        ArrayNode nodes = source.putArray("splits");
        Map<String, Boolean> isOpen = new LinkedHashMap<>();
        for (FileSourceSplit split : splits) {
            isOpen.put(split.path().toString(), true);
            ObjectNode node = nodes.addObject();
            node.put("name", split.path().toString());
            CheckpointedPosition position = split.getReaderPosition().orElse(null);
            boolean hasOffset = position != null && position.getOffset() != CheckpointedPosition.NO_OFFSET;
            node.put("offset", hasOffset ? position.getOffset() : split.offset());
            node.put("end", split.offset() + split.length());
            if (position != null) {
                node.put("recordsAfterOffset", position.getRecordsAfterOffset());
            }
        }
        for (Path path : pending.getAlreadyProcessedPaths()) {
            if (!isOpen.containsKey(path.toString())) {
                nodes.addObject().put("name", path.toString()).put("isDone", true);
            }
        }
        return true;
    }

    /** Partitions of Kafka, whose connector is not needed: a topic, a partition, the next offset and the last one. */
    private static boolean putTopics(ObjectNode source, List<byte[]> readers) throws IOException {
        ArrayNode nodes = source.putArray("splits");
        for (byte[] reader : readers) {
            DataInputDeserializer in = new DataInputDeserializer(reader);
            in.readInt();
            if (in.readInt() != in.available()) {
                throw new UnreadableException("a split is damaged");
            }
            String topic = in.readUTF();
            int partition = in.readInt();
            long offset = in.readLong();
            long end = in.readLong();
            boolean isPartition = in.available() == 0 && TOPIC.matcher(topic).matches() && partition >= 0;
            if (!isPartition || offset < COMMITTED || end < COMMITTED && end != NO_END) {
                throw new UnreadableException("this is no partition of Kafka");
            }
            ObjectNode node = nodes.addObject().put("name", topic).put("partition", partition).put("offset", offset);
            if (end != NO_END) {
                node.put("end", end);
            }
        }
        source.put("connector", KAFKA);
        return !readers.isEmpty();
    }
}

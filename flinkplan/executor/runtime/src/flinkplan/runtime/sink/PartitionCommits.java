package flinkplan.runtime.sink;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.catalyst.RunningQuery;
import flinkplan.runtime.storage.DurableFiles;
import flinkplan.runtime.watermark.SparkTime;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.SparkSession;

/**
 * Tells readers by a file which partitions of a table are complete: each once its time has come, after a batch.
 *
 * <p>Which partitions have rows and are not committed stands in the checkpoint, with the time at which each was seen
 * first. A partition that more rows come to is committed again. Sources: Flink's {@code PartitionCommitter}, {@code
 * ProcTimeCommitTrigger} and {@code PartitionTimeCommitTrigger}.
 */
final class PartitionCommits {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final TypeReference<TreeMap<String, Long>> PENDING = new TypeReference<>() {};

    private final String path;
    private final Path list;
    private final String successFile;
    private final long delay;
    private final PartitionTime time;
    private final ZoneId zone;
    private TreeMap<String, Long> pending;

    private PartitionCommits(JsonNode json, JsonNode commit) {
        path = json.get("path").asText();
        list = new Path(json.get("pending").asText());
        successFile = commit.get("successFile").asText();
        delay = commit.get("delay").asLong();
        time = commit.get("byWatermark").asBoolean() ? PartitionTime.of(commit) : null;
        zone = ZoneId.of(commit.get("zone").asText());
    }

    /**
     * Those of a table; null where its partitions are not committed.
     *
     * @param spec {@code {"path", "pending": the file of the checkpoint, "commit": {"successFile", "delay" in
     *     milliseconds, "byWatermark", "zone", …}}}
     */
    static PartitionCommits of(JsonNode spec) {
        return spec.path("commit").isObject() ? new PartitionCommits(spec, spec.get("commit")) : null;
    }

    /**
     * Commits what is complete behind a batch.
     *
     * @param files those that the batch has shown, below the table's folder
     */
    void after(Collection<Publication.Staged> files, SparkSession session) throws IOException {
        TreeMap<String, Long> before = new TreeMap<>(pending());
        long now = System.currentTimeMillis();
        for (Publication.Staged file : files) {
            int end = file.target().lastIndexOf('/');
            if (end > 0) {
                pending.putIfAbsent(file.target().substring(0, end), now);
            }
        }
        var query = RunningQuery.in((org.apache.spark.sql.classic.SparkSession) session);
        if (query != null) { // else there is one batch, with all input
            long batch = query.getLatestExecutionContext().offsetSeqMetadata().batchWatermarkMs();
            long reached = time == null ? now : watermark(batch);
            for (String partition : List.copyOf(pending.keySet())) {
                if (isComplete(partition, reached)) {
                    commit(partition);
                }
            }
        }
        keep(before);
    }

    /** Commits all partitions: no more rows come. */
    void end() throws IOException {
        TreeMap<String, Long> before = new TreeMap<>(pending());
        for (String partition : new ArrayList<>(pending.keySet())) {
            commit(partition);
        }
        keep(before);
    }

    private boolean isComplete(String partition, long reached) {
        if (time == null) {
            return delay == 0 || reached > pending.get(partition) + delay;
        }
        try {
            long start = time.of(partition).atZone(zone).toInstant().toEpochMilli();
            return reached > Math.addExact(start, delay);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    "the partition " + partition + " has no time: " + e.getMessage()
                            + "; 'partition.time-extractor.timestamp-pattern' and '…timestamp-formatter' say how it is"
                            + " written",
                    e);
        }
    }

    /** The watermark (epoch milliseconds) that the batches before have reached, by that of Spark. */
    private static long watermark(long spark) {
        if (spark <= 0) {
            return Long.MIN_VALUE;
        }
        return spark >= SparkTime.END ? Long.MAX_VALUE : SparkTime.watermark(spark);
    }

    private void commit(String partition) throws IOException {
        Path file = new Path(new Path(path + "/" + partition), successFile);
        DurableFiles.write(fileSystem(file), file, new byte[0]);
        pending.remove(partition);
    }

    private TreeMap<String, Long> pending() throws IOException {
        if (pending == null) {
            byte[] content = DurableFiles.read(fileSystem(list), list);
            pending = content == null ? new TreeMap<>() : MAPPER.readValue(content, PENDING);
            pending.keySet().removeIf(partition -> !PartitionPaths.isPath(partition)); // it leads to no other folder
        }
        return pending;
    }

    private void keep(TreeMap<String, Long> before) throws IOException {
        if (!before.equals(pending)) {
            DurableFiles.write(fileSystem(list), list, MAPPER.writeValueAsBytes(pending));
        }
    }

    private static FileSystem fileSystem(Path path) throws IOException {
        return path.getFileSystem(SparkHadoopUtil.get().conf());
    }
}

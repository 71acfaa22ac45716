package flinkplan.runtime.watermark;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.catalyst.PhysicalPlanRules;
import flinkplan.runtime.storage.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The watermark that each source of a query had reached at the end of a batch.
 *
 * <p>Of a single source it is the query's, which Spark keeps. Of several ones Spark keeps the lowest; each source's own
 * is kept here, in a file for each batch that has moved one, beside Spark's progress. It is written before Spark commits
 * the batch, and stays until there is another one behind it, so that a batch that is run again begins as it did.
 *
 * <p>In real-time mode Spark keeps none, and nothing comes between the end of a batch and its commit: there the file is
 * written when the next batch begins.
 */
public final class ReachedWatermarks {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String FOLDER = "watermarks";
    private static final Pattern BATCH = Pattern.compile("\\d{1,18}");
    private static final TypeReference<TreeMap<String, Long>> REACHED = new TypeReference<>() {};
    private static final int KEPT = 2;

    private final Path folder;
    private final boolean isRealTime;
    private final Map<String, SourceActivity> sources = new HashMap<>();
    private final TreeMap<Long, Map<String, Long>> ends = new TreeMap<>();
    private boolean isRead;

    /**
     * @param session whose queries are to begin each batch with the watermarks reached before
     * @param checkpoint where the query keeps its progress
     */
    public ReachedWatermarks(SparkSession session, String checkpoint, boolean isRealTime) {
        this.folder = new Path(checkpoint, FOLDER);
        this.isRealTime = isRealTime;
        PhysicalPlanRules.add(session, new ResumeRule());
    }

    /** Adds a source by a name that a later plan of the query has for it, too. */
    public void add(String name, SourceActivity activity) {
        sources.put(name, activity);
    }

    /** A {@link SourceActivity} of which this alone is told. */
    public SourceActivity activity(SparkSession session) {
        SourceActivity activity = new SourceActivity();
        session.sparkContext().register(activity);
        return activity;
    }

    /** Whether operators see each row when it comes. */
    boolean isRealTime() {
        return isRealTime;
    }

    /** The watermark of a source before a batch (epoch milliseconds); the lowest number where it is not known. */
    synchronized long before(long batch, String source) {
        if (!sources.containsKey(source)) {
            return Long.MIN_VALUE;
        }
        if (isRealTime) {
            end(batch - 1);
        }
        read();
        var last = ends.lowerEntry(batch);
        return last == null ? Long.MIN_VALUE : last.getValue().getOrDefault(source, Long.MIN_VALUE);
    }

    /** Writes batches by another writer, and keeps how far the sources are behind each. */
    public VoidFunction2<Dataset<Row>, Long> recording(VoidFunction2<Dataset<Row>, Long> writer) {
        return (rows, batch) -> {
            writer.call(rows, batch);
            end(batch);
        };
    }

    /** Keeps how far the sources are behind a batch that is done. */
    public synchronized void end(long batch) {
        if (sources.isEmpty()) {
            return;
        }
        read();
        ends.tailMap(batch, false).clear();
        var before = ends.lastEntry();
        Map<String, Long> reached = before == null ? Map.of() : before.getValue();
        Map<String, Long> now = new TreeMap<>(reached);
        sources.forEach((name, activity) -> {
            long own = activity.value();
            if (own > Long.MIN_VALUE) {
                now.merge(name, own, Math::max);
            }
        });
        if (now.equals(reached)) {
            return;
        }
        ends.put(batch, now);
        try {
            DurableFiles.write(fileSystem(), file(batch), MAPPER.writeValueAsBytes(now));
            for (var old = ends.firstEntry(); ends.size() > KEPT; old = ends.firstEntry()) {
                ends.remove(old.getKey());
                fileSystem().delete(file(old.getKey()), false);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        if (isRead) {
            return;
        }
        try {
            if (fileSystem().exists(folder)) {
                for (FileStatus file : fileSystem().listStatus(folder, path -> BATCH.matcher(path.getName()).matches())) {
                    ends.put(Long.valueOf(file.getPath().getName()), parsed(file.getPath()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        isRead = true;
    }

    private Map<String, Long> parsed(Path file) throws IOException {
        byte[] content = DurableFiles.read(fileSystem(), file);
        try {
            return content == null ? Map.of() : MAPPER.readValue(content, REACHED);
        } catch (JacksonException e) {
            throw new IllegalStateException(file + " does not tell how far the sources of the query were", e);
        }
    }

    private Path file(long batch) {
        return new Path(folder, Long.toString(batch));
    }

    private FileSystem fileSystem() throws IOException {
        return folder.getFileSystem(SparkHadoopUtil.get().conf());
    }
}

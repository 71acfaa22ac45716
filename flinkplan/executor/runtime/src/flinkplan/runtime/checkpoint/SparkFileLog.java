package flinkplan.runtime.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog;

/**
 * Spark's own log of the files that have been read, as its source of columnar files has it.
 *
 * <p>Files come as an array of objects in JSON with {@code name} and {@code isDone}, as {@link
 * flinkplan.runtime.file.MovedFiles} takes them.
 */
public final class SparkFileLog {
    private static final long KEPT = TimeUnit.DAYS.toMillis(7);

    private final Map<Path, FileStatus> done = new HashMap<>();
    private final List<FileStatus> left = new ArrayList<>();

    /**
     * Looks at files as they are now.
     *
     * @param root the path of the table
     * @param isClosed whether all that are there, but for those that are left, have been read
     */
    public SparkFileLog(String root, String files, boolean isClosed) throws IOException {
        Set<Path> open = new HashSet<>();
        for (JsonNode file : new ObjectMapper().readTree(files)) {
            Path path = new Path(file.get("name").asText());
            boolean isDone = file.path("isDone").asBoolean(false);
            try {
                FileStatus status =
                        path.getFileSystem(SparkHadoopUtil.get().conf()).getFileStatus(path);
                if (isDone) {
                    done.put(status.getPath(), status);
                } else {
                    open.add(status.getPath());
                    left.add(status);
                }
            } catch (FileNotFoundException e) {
                // what is gone is not found again
                continue;
            }
        }
        if (isClosed) {
            list(new Path(root));
        }
        done.keySet().removeAll(open);
    }

    private void list(Path folder) throws IOException {
        try {
            for (FileStatus child :
                    folder.getFileSystem(SparkHadoopUtil.get().conf()).listStatus(folder)) {
                String name = child.getPath().getName();
                if (child.isDirectory()) {
                    list(child.getPath());
                } else if (!name.startsWith(".") && !name.startsWith("_")) {
                    done.put(child.getPath(), child);
                }
            }
        } catch (FileNotFoundException e) {
            // there is nothing to read
            return;
        }
    }

    /** A file that is left, but that Spark takes for one that it has forgotten, for it is so old; null: none. */
    public String forgotten() {
        long newest = done.values().stream()
                .mapToLong(FileStatus::getModificationTime)
                .max()
                .orElse(Long.MIN_VALUE);
        return left.stream()
                .filter(file -> newest != Long.MIN_VALUE && file.getModificationTime() < newest - KEPT)
                .map(file -> file.getPath().toString())
                .findFirst()
                .orElse(null);
    }

    /**
     * Writes the log of a source.
     *
     * @param location where the source keeps what it knows in the checkpoint
     * @return the offset in JSON from which the source goes on; null: from the beginning
     */
    public String write(SparkSession session, String location) {
        if (done.isEmpty()) {
            return null;
        }
        var entries = done.values().stream()
                .map(file -> new FileStreamSource.FileEntry(
                        SparkPath.fromPath(file.getPath()).urlEncoded(), file.getModificationTime(), 0))
                .toArray(FileStreamSource.FileEntry[]::new);
        new FileStreamSourceLog(FileStreamSourceLog.VERSION(), session, location).add(0, entries);
        return "{\"logOffset\":0}";
    }
}

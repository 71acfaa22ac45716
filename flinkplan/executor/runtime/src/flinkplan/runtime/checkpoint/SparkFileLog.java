package flinkplan.runtime.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog;

/** Spark's own log of the files that have been read, as its source of columnar files has it. */
public final class SparkFileLog {
    private SparkFileLog() {}

    /**
     * Writes the log of a source with the files that are still there.
     *
     * @param location where the source keeps what it knows in the checkpoint
     * @param files names of files, as an array in JSON
     * @return the offset in JSON from which the source goes on; null: from the beginning
     */
    public static String write(SparkSession session, String location, String files) throws IOException {
        List<FileStreamSource.FileEntry> entries = new ArrayList<>();
        for (JsonNode file : new ObjectMapper().readTree(files)) {
            Path path = new Path(file.asText());
            try {
                var status = path.getFileSystem(SparkHadoopUtil.get().conf()).getFileStatus(path);
                String name = SparkPath.fromPath(status.getPath()).urlEncoded();
                entries.add(new FileStreamSource.FileEntry(name, status.getModificationTime(), 0));
            } catch (FileNotFoundException e) {
                // what is gone is not found again
                continue;
            }
        }
        if (entries.isEmpty()) {
            return null;
        }
        new FileStreamSourceLog(FileStreamSourceLog.VERSION(), session, location)
                .add(0, entries.toArray(FileStreamSource.FileEntry[]::new));
        return "{\"logOffset\":0}";
    }
}

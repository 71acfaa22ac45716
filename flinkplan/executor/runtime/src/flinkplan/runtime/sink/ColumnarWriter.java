package flinkplan.runtime.sink;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;

/**
 * Writes the batches of a query with Spark's own writer of a columnar format, idempotently: into a hidden folder
 * first, from which the files are moved under names made of the batch's.
 */
public final class ColumnarWriter implements VoidFunction2<Dataset<Row>, Long> {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final String path;
    private final String format;
    private final Map<String, String> options = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final List<String> partitions = new ArrayList<>();
    private volatile long written;

    /** @param spec {@code {"path", "format", "options", "type", "partitions", …}} in JSON */
    public ColumnarWriter(String spec) throws JsonProcessingException {
        JsonNode json = MAPPER.readTree(spec);
        path = json.get("path").asText();
        format = json.get("format").asText();
        json.get("options").properties().forEach(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        json.get("type").get("names").forEach(name -> names.add(name.asText()));
        json.get("partitions").forEach(name -> partitions.add(name.asText()));
        names.addAll(partitions);
    }

    @Override
    public void call(Dataset<Row> rows, Long batch) throws IOException, InterruptedException {
        Observation observation = new Observation();
        Dataset<Row> counted = rows.toDF(names.toArray(String[]::new)).observe(observation, count(lit(1)).as("rows"));
        String name = BatchWriter.name(rows, batch);
        Path staging = new Path(path, "." + name);
        FileSystem fileSystem = staging.getFileSystem(SparkHadoopUtil.get().conf());
        counted
                .write()
                .mode("overwrite")
                .format(format)
                .options(options)
                .partitionBy(partitions.toArray(String[]::new))
                .save(staging.toString());
        publish(fileSystem, staging, name);
        written += (long) observation.getAsJava().get("rows");
    }

    private void publish(FileSystem fileSystem, Path staging, String name) throws IOException {
        Path root = fileSystem.makeQualified(staging);
        int index = 0;
        for (RemoteIterator<LocatedFileStatus> files = fileSystem.listFiles(root, true); files.hasNext(); ) {
            Path file = files.next().getPath();
            if (file.getName().startsWith("_") || file.getName().startsWith(".")) {
                continue;
            }
            String folder = root.toUri().relativize(file.getParent().toUri()).getPath();
            String part = String.format("part-%s-%05d.%s", name, index++, format);
            Path target = new Path(new Path(path + "/" + folder), part);
            fileSystem.mkdirs(target.getParent());
            fileSystem.delete(target, false);
            if (!fileSystem.rename(file, target)) {
                throw new IOException("cannot rename " + file + " to " + target);
            }
        }
        fileSystem.delete(staging, true);
    }

    /** How many rows were written so far. */
    public long written() {
        return written;
    }
}

package flinkplan.runtime.file;

import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.storage.DurableFiles;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * What stands in a checkpoint of files that were deleted or truncated within a batch of real-time mode, after rows of
 * them had gone out: if the batch fails, these rows cannot come again.
 */
final class EndedFiles {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path directory;
    private final FileSystem fileSystem;

    EndedFiles(String location) throws IOException {
        directory = new Path(location);
        fileSystem = directory.getFileSystem(SparkHadoopUtil.get().conf());
    }

    static String location(String checkpointLocation) {
        return new Path(checkpointLocation, "ended").toString();
    }

    void add(KnownFile file) throws IOException {
        FilePlace read = new FilePlace(file.file, file.position, file.print);
        byte[] content = MAPPER.writeValueAsString(read).getBytes(StandardCharsets.UTF_8);
        DurableFiles.write(fileSystem, new Path(directory, String.format("%012d", file.index)), content);
    }

    /** How far they were read, by the numbers of the files. */
    Map<Integer, FilePlace> read() throws IOException {
        Map<Integer, FilePlace> places = new TreeMap<>();
        for (FileStatus file : list()) {
            byte[] content = DurableFiles.read(fileSystem, file.getPath());
            places.put(Integer.parseInt(file.getPath().getName()), MAPPER.readValue(content, FilePlace.class));
        }
        return places;
    }

    /** Forgets them, when their batch is done. */
    void clear() throws IOException {
        for (FileStatus file : list()) {
            fileSystem.delete(file.getPath(), false);
        }
    }

    private FileStatus[] list() throws IOException {
        try {
            return Arrays.stream(fileSystem.listStatus(directory))
                    .filter(file -> !file.getPath().getName().startsWith("."))
                    .toArray(FileStatus[]::new);
        } catch (FileNotFoundException e) {
            return new FileStatus[0];
        }
    }
}

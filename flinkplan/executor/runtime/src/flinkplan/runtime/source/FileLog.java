package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The files that a source has taken up, in order; kept in the checkpoint, one log file per discovery. */
final class FileLog {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path directory;
    private final FileSystem fileSystem;
    private final List<SourceFile> files = new ArrayList<>();
    private final Set<String> known = new HashSet<>();

    FileLog(String checkpointLocation) throws IOException {
        directory = new Path(checkpointLocation, "files");
        fileSystem = directory.getFileSystem(SparkHadoopUtil.get().conf());
        if (fileSystem.exists(directory)) {
            FileStatus[] logs = fileSystem.listStatus(directory, path -> !path.getName().startsWith("."));
            Arrays.sort(logs);
            for (FileStatus log : logs) {
                read(log.getPath());
            }
        }
    }

    private void read(Path log) throws IOException {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(fileSystem.open(log), StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                remember(MAPPER.readValue(line, SourceFile.class));
            }
        }
    }

    private void remember(SourceFile file) {
        files.add(file);
        known.add(file.path());
    }

    boolean contains(SourceFile file) {
        return known.contains(file.path());
    }

    void append(List<SourceFile> found) throws IOException {
        Path log = new Path(directory, String.format("%012d", files.size()));
        Path unfinished = new Path(directory, "." + log.getName());
        try (OutputStream out = fileSystem.create(unfinished, true)) {
            for (SourceFile file : found) {
                out.write((MAPPER.writeValueAsString(file) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        fileSystem.rename(unfinished, log);
        found.forEach(this::remember);
    }

    int size() {
        return files.size();
    }

    List<SourceFile> between(int start, int end) {
        return Collections.unmodifiableList(files.subList(start, end));
    }
}

package flinkplan.runtime.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.storage.DurableFiles;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * The files that a source has taken up, in order; kept in the checkpoint, one log file per discovery.
 *
 * <p>Of a file that another engine has begun there is a line for each part that is left, with the bounds of that.
 */
final class FileLog {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path directory;
    private final FileSystem fileSystem;
    private static final String PART = "part";

    private final List<SourceFile> files = new ArrayList<>();
    private final Map<Integer, FilePart> parts = new HashMap<>();
    private final Set<String> known = new HashSet<>();
    private final int old;

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
        old = files.size();
    }

    /** Each log file is named by how many files stand in those before it. */
    private void read(Path log) throws IOException {
        if (!log.getName().equals(name())) {
            throw damaged("the log of the files that were read has a gap before " + log, null);
        }
        int before = files.size();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(fileSystem.open(log), StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                remember(parsed(line));
            }
        } catch (IOException e) {
            throw damaged(log + " cannot be read", e);
        }
        if (files.size() == before) {
            throw damaged(log + " is empty", null);
        }
    }

    private static FilePart parsed(String line) throws IOException {
        if (!(MAPPER.readTree(line) instanceof ObjectNode entry)) {
            throw new IOException("no file stands in the line " + line);
        }
        JsonNode part = entry.remove(PART);
        SourceFile file = MAPPER.treeToValue(entry, SourceFile.class);
        return part == null
                ? FilePart.whole(file)
                : new FilePart(
                        file,
                        part.path("from").asLong(),
                        part.path("to").asLong(FilePart.END),
                        part.path("skipped").asLong());
    }

    private static String line(FilePart part) throws IOException {
        ObjectNode entry = MAPPER.valueToTree(part.file());
        if (!part.equals(FilePart.whole(part.file()))) {
            ObjectNode bounds = entry.putObject(PART).put("from", part.from()).put("skipped", part.skipped());
            if (part.to() != FilePart.END) {
                bounds.put("to", part.to());
            }
        }
        return MAPPER.writeValueAsString(entry);
    }

    private static IOException damaged(String what, IOException cause) {
        String wayOut = "; put back a copy of the whole checkpoint, or start with a new one";
        return new IOException("the checkpoint is damaged: " + what + wayOut, cause);
    }

    private String name() {
        return String.format("%012d", files.size());
    }

    /** Checks that nothing has been lost of the files that were read. */
    void check(int read) throws IOException {
        if (read > files.size()) {
            throw damaged(read + " files were read, but " + files.size() + " are listed in " + directory, null);
        }
    }

    private void remember(FilePart part) {
        if (!part.equals(FilePart.whole(part.file()))) {
            parts.put(files.size(), part);
        }
        files.add(part.file());
        known.add(part.file().path());
    }

    boolean contains(SourceFile file) {
        return known.contains(file.path());
    }

    void append(List<SourceFile> newFiles) throws IOException {
        appendParts(newFiles.stream().map(FilePart::whole).toList());
    }

    void appendParts(List<FilePart> newParts) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (FilePart part : newParts) {
            lines.append(line(part)).append('\n');
        }
        DurableFiles.write(fileSystem, new Path(directory, name()), lines.toString().getBytes(StandardCharsets.UTF_8));
        newParts.forEach(this::remember);
    }

    int size() {
        return files.size();
    }

    /** Some of the files in order, as they were when they were taken up. */
    List<SourceFile> between(int start, int end) {
        return List.copyOf(files.subList(start, end));
    }

    /** What is read of some files in order; those of an earlier run as they are now: what made it fail may be fixed. */
    List<FilePart> now(int start, int end) throws IOException {
        List<FilePart> current = new ArrayList<>();
        for (int i = start; i < end; i++) {
            SourceFile file = files.get(i);
            FilePart part = parts.getOrDefault(i, FilePart.whole(file));
            try {
                current.add(i < old ? part.of(file.now()) : part);
            } catch (FileNotFoundException e) {
                file.missing(e);
            }
        }
        return current;
    }
}

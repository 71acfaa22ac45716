package flinkplan.runtime.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * The files of a table that another engine has read, as a new checkpoint has them on its log.
 *
 * <p>Files come as an array of objects in JSON with {@code name}, and {@code isDone} or what is left of them: {@code
 * from}, {@code to} and {@code skipped} as in {@link FilePart}.
 */
public final class MovedFiles {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private MovedFiles() {}

    /** The first of the files that is not one of the table's; null: all are. */
    public static String outside(String spec, String files) throws IOException {
        String root = qualified(FileSpec.parse(spec).path());
        for (JsonNode file : MAPPER.readTree(files)) {
            String path = qualified(file.get("name").asText());
            if (!path.equals(root) && !path.startsWith(root.endsWith("/") ? root : root + "/")) {
                return path;
            }
        }
        return null;
    }

    /**
     * Writes the log of a source.
     *
     * @param location where the source keeps what it knows in the checkpoint
     * @param isClosed whether there is nothing to read but what is left of these files: all others that are there now
     *     have been read as well
     * @return the offset in JSON from which the source goes on
     */
    public static String write(String spec, String location, String files, boolean isClosed) throws IOException {
        Map<String, SourceFile> done = new LinkedHashMap<>();
        List<FilePart> left = new ArrayList<>();
        Set<String> open = new HashSet<>();
        for (JsonNode file : MAPPER.readTree(files)) {
            String path = qualified(file.get("name").asText());
            SourceFile known = new SourceFile(path, 0, 0, 0);
            if (file.path("isDone").asBoolean(false)) {
                done.put(path, known);
            } else {
                open.add(path);
                long end = file.path("to").asLong(FilePart.END);
                left.add(new FilePart(
                        known, file.path("from").asLong(), end, file.path("skipped").asLong()));
            }
        }
        if (isClosed) {
            present(spec).forEach(file -> done.putIfAbsent(file.path(), file));
        }
        done.keySet().removeAll(open);
        List<FilePart> all = new ArrayList<>(done.values().stream().map(FilePart::whole).toList());
        all.addAll(left);
        if (!all.isEmpty()) {
            new FileLog(location).appendParts(all);
        }
        return FileStream.offset(done.size(), isClosed);
    }

    private static List<SourceFile> present(String spec) throws IOException {
        try {
            return FileSpec.parse(spec).files();
        } catch (FileNotFoundException e) {
            return List.of();
        }
    }

    private static String qualified(String name) throws IOException {
        Path path = new Path(name);
        FileSystem fileSystem = path.getFileSystem(SparkHadoopUtil.get().conf());
        return fileSystem.makeQualified(path).toString();
    }
}

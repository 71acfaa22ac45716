package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.storage.DurableFiles;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * What readers of a table's folder see: the files of each batch, those of its last attempt alone.
 *
 * <p>A batch's files are written below a hidden folder and moved in front of readers once all of them are there. The
 * checkpoint holds a list of those of the last batch, made before the first one is moved: a batch that comes again
 * takes back what is on it, however many tasks had written that.
 */
final class Publication {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final String path;
    private final Path list;
    private boolean isFirst = true;

    /**
     * A file to be moved.
     *
     * @param staged its path below the batch's staging folder
     * @param target its path below the table's folder
     */
    record Staged(String staged, String target) implements Serializable {
        private static final String FINISHED = ".done";

        /**
         * The attempts of a task may run at once, those of a driver that has died beside those of the next one, so each
         * has a file of its own: that of {@code name} in a directory.
         */
        static Staged of(String directory, String name) {
            return new Staged(String.format("%s.%s.%s", directory, name, UUID.randomUUID()), directory + name);
        }

        /** Where the file of the attempt that has finished stands. */
        String finished() {
            int name = target.lastIndexOf('/') + 1;
            return target.substring(0, name) + "." + target.substring(name) + FINISHED;
        }

        static boolean isFinished(String name) {
            return name.endsWith(FINISHED);
        }

        /** The name under which a file that has finished is shown. */
        static String shown(String name) {
            return name.substring(1, name.length() - FINISHED.length());
        }
    }

    private Publication(String path, Path list) {
        this.path = path;
        this.list = list;
    }

    /**
     * That of a table's folder.
     *
     * @param spec {@code {"path", "published": the file of the checkpoint that names the last batch's files, …}}
     */
    static Publication of(JsonNode spec) {
        return new Publication(spec.get("path").asText(), new Path(spec.get("published").asText()));
    }

    /** What a file of a batch is called, with what tells it from the others. */
    static String fileName(String batch, String rest) {
        return String.format("part-%s-%s", batch, rest);
    }

    /** Where the tasks of a batch write. */
    static Path staging(String path, String batch) {
        return new Path(path, ".staging-" + batch);
    }

    /** Removes what an attempt of a batch has not shown to readers. */
    void clean(String batch) throws IOException {
        Path staging = staging(path, batch);
        fileSystem(staging).delete(staging, true);
    }

    /** Shows the files of a batch to readers, and no longer those of an earlier attempt. */
    void publish(String batch, List<Staged> files) throws IOException {
        Path staging = staging(path, batch);
        FileSystem fileSystem = fileSystem(staging);
        if (isFirst) {
            takeBack(batch);
            isFirst = false;
        }
        String root = fileSystem.makeQualified(new Path(path)) + "/";
        if (!files.isEmpty()) {
            write(batch, files.stream().map(file -> root + file.target()).toList());
        }
        for (Staged file : files) {
            Path target = new Path(root + file.target());
            fileSystem.mkdirs(target.getParent());
            DurableFiles.move(fileSystem, new Path(staging + "/" + file.staged()), target);
        }
    }

    private void write(String batch, List<String> files) throws IOException {
        ObjectNode content = MAPPER.createObjectNode().put("batch", batch);
        files.forEach(content.putArray("files")::add);
        DurableFiles.write(fileSystem(list), list, MAPPER.writeValueAsBytes(content));
    }

    private void takeBack(String batch) throws IOException {
        byte[] content = DurableFiles.read(fileSystem(list), list);
        if (content == null) {
            return;
        }
        JsonNode earlier = MAPPER.readTree(content);
        if (earlier.path("batch").asText().equals(batch)) {
            for (JsonNode file : earlier.path("files")) {
                Path target = new Path(file.asText());
                if (target.getName().startsWith(fileName(batch, ""))) { // a list of somebody else's names other files
                    fileSystem(target).delete(target, false);
                }
            }
        }
    }

    private static FileSystem fileSystem(Path path) throws IOException {
        return path.getFileSystem(SparkHadoopUtil.get().conf());
    }
}

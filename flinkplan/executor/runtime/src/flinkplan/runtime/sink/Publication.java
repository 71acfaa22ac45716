package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.storage.DurableFiles;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
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
    private final boolean overwrites;
    private final boolean isWhole;
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

    private Publication(JsonNode spec) {
        path = spec.get("path").asText();
        list = new Path(spec.get("published").asText());
        overwrites = spec.path("overwrites").isObject();
        isWhole = spec.path("partitions").isEmpty();
    }

    /**
     * That of a table's folder.
     *
     * @param spec {@code {"path", "published": the file of the checkpoint that names the last batch's files, …}}; where
     *     it has {@code "overwrites"}, the one batch replaces what is in the folders that it writes into, or in that of
     *     a table without partitions
     */
    static Publication of(JsonNode spec) {
        return new Publication(spec);
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
        if (overwrites) {
            List<String> replaced = replaced(fileSystem, files);
            write(batch, files, replaced);
            replace(batch, files, replaced);
            return;
        }
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

    /**
     * The files of a batch that was to replace others when its process died: they are shown now, the others removed.
     * Null where there is no such batch.  Its query may have read the table, so that it must not run again.
     */
    List<Staged> finish(String batch) throws IOException {
        byte[] content = overwrites ? DurableFiles.read(fileSystem(list), list) : null;
        JsonNode begun = content == null ? null : MAPPER.readTree(content);
        if (begun == null || !begun.path("batch").asText().equals(batch) || !begun.has("replaced")) {
            return null;
        }
        List<Staged> files = new ArrayList<>();
        for (JsonNode file : begun.path("staged")) {
            files.add(new Staged(file.path("staged").asText(), file.path("target").asText()));
        }
        List<String> replaced = new ArrayList<>();
        begun.path("replaced").forEach(name -> replaced.add(name.asText()));
        replace(batch, files, replaced);
        return files;
    }

    private void replace(String batch, List<Staged> files, List<String> replaced) throws IOException {
        Path staging = staging(path, batch);
        FileSystem fileSystem = fileSystem(staging);
        for (Staged file : files) {
            Path from = new Path(staging + "/" + file.staged());
            Path target = new Path(below(file.target()));
            fileSystem.mkdirs(target.getParent());
            if (fileSystem.exists(from)) {
                DurableFiles.move(fileSystem, from, target);
            }
        }
        for (String name : replaced) {
            fileSystem.delete(new Path(below(name)), true);
        }
    }

    /** A path below the table's folder.  The list of somebody else's names others. */
    private String below(String name) throws IOException {
        if (name.isEmpty() || name.startsWith("/") || List.of(name.split("/")).contains("..")) {
            throw new IOException("the checkpoint names no file of the table, but " + name);
        }
        return path + "/" + name;
    }

    /** What is in the folders into which files go, below the table's. */
    private List<String> replaced(FileSystem fileSystem, List<Staged> files) throws IOException {
        TreeSet<String> folders = new TreeSet<>();
        files.forEach(file -> folders.add(file.target().substring(0, file.target().lastIndexOf('/') + 1)));
        if (isWhole) {
            folders.add("");
        }
        List<String> replaced = new ArrayList<>();
        for (String folder : folders) {
            Path there = new Path(path + "/" + folder);
            if (fileSystem.exists(there)) {
                for (FileStatus file : fileSystem.listStatus(there)) {
                    String name = file.getPath().getName();
                    if (!name.startsWith("_") && !name.startsWith(".")) {
                        replaced.add(folder + name);
                    }
                }
            }
        }
        return replaced;
    }

    private void write(String batch, List<Staged> files, List<String> replaced) throws IOException {
        ObjectNode content = MAPPER.createObjectNode().put("batch", batch);
        ArrayNode staged = content.putArray("staged");
        files.forEach(file -> staged.addObject().put("staged", file.staged()).put("target", file.target()));
        replaced.forEach(content.putArray("replaced")::add);
        DurableFiles.write(fileSystem(list), list, MAPPER.writeValueAsBytes(content));
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

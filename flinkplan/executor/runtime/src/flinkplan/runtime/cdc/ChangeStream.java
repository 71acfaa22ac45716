package flinkplan.runtime.cdc;

import com.fasterxml.jackson.databind.JsonNode;
import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.source.PositionStream;
import flinkplan.runtime.storage.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;

/**
 * The stream of a table whose changes are captured.
 *
 * <p>A database shows the same rows of a snapshot only once. So what Python has read of it is put into the checkpoint
 * before Spark logs the offset behind it: a batch that is run again reads the same files. They are removed when the
 * batch is done. A position counts them in {@code files}.
 */
final class ChangeStream extends PositionStream {
    private final ChangeSpec spec;
    private final Path folder;
    private final FileSystem fileSystem;
    private long removed = -1;

    ChangeStream(ChangeSpec spec, PythonMethods positions, String checkpointLocation) {
        super(positions, "bytes", ChangeSpec.quoted(checkpointLocation));
        this.spec = spec;
        folder = new Path(checkpointLocation, "changes");
        try {
            fileSystem = folder.getFileSystem(SparkHadoopUtil.get().conf());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path file(long number) {
        return new Path(folder, String.format("%012d", number));
    }

    private static long files(Offset position) {
        return ChangeSpec.json(position.json()).get("files").asLong();
    }

    /** Python's answer has the {@code position}, and in {@code written} the local files of what is read up to it. */
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        JsonNode answer = ChangeSpec.json(ask("latest", start.json()));
        long number = files(start);
        for (JsonNode written : answer.get("written")) {
            keep(java.nio.file.Path.of(written.asText()), file(number++));
        }
        return new Position(answer.get("position").toString());
    }

    private void keep(java.nio.file.Path written, Path file) {
        try {
            try (InputStream content = Files.newInputStream(written)) {
                DurableFiles.write(fileSystem, file, content);
            }
            Files.delete(written);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return LongStream.range(files(start), files(end))
                .mapToObj(number -> new ChangeSource.FilePartition(file(number).toString()))
                .toArray(InputPartition[]::new);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return ChangeSource.readers(spec);
    }

    @Override
    public void commit(Offset end) {
        super.commit(end);
        try {
            remove(files(end));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes the files before a number; at first also those that earlier processes have left. */
    private void remove(long end) throws IOException {
        if (removed < 0 && fileSystem.exists(folder)) {
            String first = file(end).getName();
            for (FileStatus status : fileSystem.listStatus(folder)) {
                String name = status.getPath().getName();
                if (!name.startsWith(".") && name.compareTo(first) < 0) {
                    fileSystem.delete(status.getPath(), false);
                }
            }
        }
        for (long number = removed < 0 ? end : removed; number < end; number++) {
            fileSystem.delete(file(number), false);
        }
        removed = end;
    }

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "changes";
    }
}

package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** The stream of a file source: an offset counts the files taken up. */
final class FileStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private static final long SMALL = 16L << 20;

    private final FileSpec spec;
    private final Pattern pattern;
    private final FileLog log;
    private boolean closes;
    private boolean closed;

    FileStream(FileSpec spec, String checkpointLocation) {
        this.spec = spec;
        this.pattern = spec.pattern() == null ? null : Pattern.compile(spec.pattern());
        try {
            log = new FileLog(checkpointLocation);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code settled} after the empty batch that follows new files. */
    private static final class FilesOffset extends Offset {
        private static final ObjectMapper MAPPER = new ObjectMapper();
        final int files;
        final boolean settled;

        FilesOffset(int files, boolean settled) {
            this.files = files;
            this.settled = settled;
        }

        static FilesOffset parse(String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                return new FilesOffset(value.get("files").asInt(), value.get("settled").asBoolean());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String json() {
            return "{\"files\":" + files + ",\"settled\":" + settled + "}";
        }
    }

    @Override
    public Offset initialOffset() {
        return new FilesOffset(0, true);
    }

    @Override
    public Offset deserializeOffset(String json) {
        FilesOffset offset = FilesOffset.parse(json);
        try {
            log.check(offset.files);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return offset;
    }

    /** What is there is taken up later, when the log has been compared with the offset to start from. */
    @Override
    public void prepareForTriggerAvailableNow() {
        closes = true;
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        if (!closed) {
            discover();
            closed = closes;
        }
        FilesOffset from = (FilesOffset) start;
        return new FilesOffset(log.size(), from.files == log.size() || !spec.settles());
    }

    private void discover() {
        try {
            List<SourceFile> found = new ArrayList<>();
            Path root = new Path(spec.path());
            FileSystem fileSystem = root.getFileSystem(SparkHadoopUtil.get().conf());
            if (!fileSystem.exists(root)) {
                throw new FileNotFoundException("there is no file or directory '" + spec.path() + "'");
            }
            list(fileSystem, fileSystem.getFileStatus(root), found);
            found.sort(Comparator.comparing(SourceFile::path));
            if (!found.isEmpty()) {
                log.append(found);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void list(FileSystem fileSystem, FileStatus status, List<SourceFile> found) throws IOException {
        if (status.isDirectory()) {
            for (FileStatus child : fileSystem.listStatus(status.getPath())) {
                String name = child.getPath().getName();
                if (!name.startsWith(".") && !name.startsWith("_")) {
                    list(fileSystem, child, found);
                }
            }
            return;
        }
        SourceFile file = SourceFile.of(status);
        if (!log.contains(file) && isWanted(file)) {
            found.add(file);
        }
    }

    private boolean isWanted(SourceFile file) {
        if (pattern != null && !pattern.matcher(new Path(file.path()).toUri().getPath()).matches()) {
            return false;
        }
        if (spec.only() == null) {
            return true;
        }
        Map<String, String> partition = file.partition();
        return spec.only().stream().anyMatch(wanted -> partition.entrySet().containsAll(wanted.entrySet()));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        List<SourceFile> files;
        try {
            files = log.between(((FilesOffset) start).files, ((FilesOffset) end).files);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        long total = files.stream().mapToLong(SourceFile::size).sum();
        return Slices.of(files, total / tasks(total) + 1, spec.isSplittable());
    }

    /** How many tasks are to read so many bytes, unless {@code spark.sql.files.minPartitionNum} says it. */
    private static int tasks(long total) {
        SparkSession session = SparkSession.active();
        int own = total <= SMALL ? 1 : session.sparkContext().defaultParallelism();
        return Integer.parseInt(session.conf().get("spark.sql.files.minPartitionNum", String.valueOf(own)));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        FileSpec spec = this.spec;
        return partition -> new FileReader(spec, (Slices) partition);
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
}

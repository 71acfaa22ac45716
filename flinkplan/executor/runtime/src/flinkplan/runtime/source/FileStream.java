package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** The stream of a file source: an offset counts the files taken up. */
final class FileStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private final FileSpec spec;
    private final FileLog log;
    private boolean closes;
    private boolean closed;

    FileStream(FileSpec spec, String checkpointLocation) {
        this.spec = spec;
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
            List<SourceFile> found = spec.files();
            found.removeIf(log::contains);
            if (!found.isEmpty()) {
                log.append(found);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        try {
            return Slices.of(log.between(((FilesOffset) start).files, ((FilesOffset) end).files), spec.isSplittable());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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

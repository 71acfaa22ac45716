package flinkplan.runtime.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.file.FileSpec.Turn;
import flinkplan.runtime.source.Lag;
import flinkplan.runtime.source.Switch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** The stream of a file source: an offset counts the files taken up. */
final class FileStream implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final FileSpec spec;
    private final FileLog log;
    private final Switch behind;
    private boolean closes;
    private boolean closed;

    /** @param behind what files that are the last of several sources wait for; null: nothing */
    FileStream(FileSpec spec, String checkpointLocation, Switch behind) {
        this.spec = spec;
        this.behind = behind;
        try {
            log = new FileLog(checkpointLocation);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * {@code settled} after the empty batch that follows new files, {@code waits} for so many batches to begin, or to
     * rest. {@code closed}: no more files are taken up than those on the log.
     */
    private static final class FilesOffset extends Offset {
        private static final ObjectMapper MAPPER = new ObjectMapper();
        final int files;
        final boolean settled;
        final int waits;
        final boolean closed;

        FilesOffset(int files, boolean settled, int waits, boolean closed) {
            this.files = files;
            this.settled = settled;
            this.waits = waits;
            this.closed = closed;
        }

        static FilesOffset parse(String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                int waits = value.path("waits").asInt(0);
                boolean closed = value.path("closed").asBoolean(false);
                return new FilesOffset(value.get("files").asInt(), value.get("settled").asBoolean(), waits, closed);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String json() {
            String more = (waits == 0 ? "" : ",\"waits\":" + waits) + (closed ? ",\"closed\":true" : "");
            return "{\"files\":" + files + ",\"settled\":" + settled + more + "}";
        }
    }

    /** The offset in JSON behind the first files of the log; {@code isClosed}: no more are taken up than those on it. */
    static String offset(int files, boolean isClosed) {
        return new FilesOffset(files, true, 0, isClosed).json();
    }

    @Override
    public Offset initialOffset() {
        return new FilesOffset(0, true, waits(), false);
    }

    /** In how many batches nothing is read: in the one in which others end, and perhaps where that one settles. */
    private int waits() {
        return switch (spec.turn()) {
            case ALONE -> 0;
            case FIRST -> 1;
            case LAST -> spec.settles() ? 2 : 1;
        };
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
        FilesOffset from = (FilesOffset) start;
        if (behind != null && from.waits == waits() && !behind.isReached()) {
            return from;
        }
        int waits = Math.max(from.waits - 1, 0);
        if (behind != null && waits == 0) {
            behind.go();
        }
        boolean rests = spec.turn() == Turn.FIRST && from.waits == 0 || spec.turn() == Turn.LAST && from.waits > 0;
        if (rests) {
            return new FilesOffset(from.files, true, waits, from.closed);
        }
        if (!closed && !from.closed) {
            discover();
            closed = closes;
        }
        int files = taken(from.files);
        return new FilesOffset(files, from.files == files || !spec.settles(), waits, from.closed);
    }

    /** How many files have been taken up with the next batch. */
    private int taken(int before) {
        boolean isLimited = spec.filesPerBatch() > 0 && spec.turn() != Turn.FIRST;
        return isLimited ? Math.min(log.size(), before + spec.filesPerBatch()) : log.size();
    }

    private void discover() {
        try {
            List<SourceFile> newFiles = spec.files();
            newFiles.removeIf(log::contains);
            if (!newFiles.isEmpty()) {
                log.append(newFiles);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        try {
            return Slices.of(log.now(((FilesOffset) start).files, ((FilesOffset) end).files), spec);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        FileSpec spec = this.spec;
        return partition -> new FileReader(spec, (Slices) partition);
    }

    /** What is waited for, and how many files do; or how many were found that are still to be read, see {@link Lag}. */
    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
        FilesOffset offset = latest.map(end -> FilesOffset.parse(end.json())).orElse(null);
        if (behind == null || offset == null || offset.waits < waits()) {
            return Lag.of("files", spec.path(), log.size() - (offset == null ? 0 : offset.files));
        }
        try {
            return Map.of("waits for", behind.table(), "waiting", Integer.toString(spec.files().size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "files";
    }
}

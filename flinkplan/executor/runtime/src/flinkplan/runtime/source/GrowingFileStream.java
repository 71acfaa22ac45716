package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/** The stream of files that are read as they are written: an offset is a place in the last one taken up. */
final class GrowingFileStream extends RealTimeStream {
    private final FileSpec spec;
    private final FileLog log;
    private int taken;

    GrowingFileStream(FileSpec spec, String checkpointLocation) {
        this.spec = spec;
        try {
            log = new FileLog(checkpointLocation);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * How far a batch has come.
     *
     * @param begun the files that it has taken up, in order
     * @param position the byte of the last file where the next message begins
     * @param rows how many rows of that message have gone out
     */
    record Reached(List<SourceFile> begun, long position, int rows) implements PartitionOffset {}

    /** {@code files} have been taken up. */
    private static final class Place extends Offset {
        private static final ObjectMapper MAPPER = new ObjectMapper();
        private final int files;
        private final long position;
        private final int rows;

        Place(int files, long position, int rows) {
            this.files = files;
            this.position = position;
            this.rows = rows;
        }

        static Place parse(String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                return new Place(
                        value.get("files").asInt(),
                        value.get("position").asLong(),
                        value.get("rows").asInt());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String json() {
            return "{\"files\":" + files + ",\"position\":" + position + ",\"rows\":" + rows + "}";
        }
    }

    /**
     * Where a batch starts.
     *
     * @param known the paths of the files that have been taken up
     * @param current the last one, read up to {@code position}, or null
     * @param pending those that come next: a batch that failed had taken them up
     */
    record Start(Set<String> known, SourceFile current, long position, int rows, List<SourceFile> pending)
            implements InputPartition {}

    @Override
    public Offset initialOffset() {
        return new Place(0, 0, 0);
    }

    @Override
    public Offset deserializeOffset(String json) {
        Place place = Place.parse(json);
        try {
            log.check(place.files);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return place;
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
        Place place = (Place) start;
        taken = place.files;
        try {
            List<SourceFile> files = log.between(0, place.files);
            Set<String> known = new HashSet<>();
            files.forEach(file -> known.add(file.path()));
            SourceFile current = files.isEmpty() ? null : files.get(files.size() - 1);
            List<SourceFile> pending = log.between(place.files, log.size());
            return new InputPartition[] {new Start(known, current, place.position, place.rows, pending)};
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Files are on the log before an offset counts them. */
    @Override
    Offset reached(PartitionOffset offset) {
        Reached reached = (Reached) offset;
        List<SourceFile> found =
                reached.begun().stream().filter(file -> !log.contains(file)).toList();
        try {
            if (!found.isEmpty()) {
                log.append(found);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Place(taken + reached.begun().size(), reached.position(), reached.rows());
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        FileSpec spec = this.spec;
        return partition -> new GrowingFileReader(spec, (Start) partition);
    }
}

package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/** The stream of files that are read as they are written: an offset is a place in each of them. */
final class GrowingFileStream extends RealTimeStream {
    private final FileSpec spec;
    private final FileLog log;

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
     * @param positions the byte of each file where its next message begins
     * @param current which of them was read last
     * @param rows how many rows of that one's next message have gone out
     */
    record Reached(List<SourceFile> begun, long[] positions, int current, int rows) implements PartitionOffset {}

    /** The places in the files that have been taken up, in their order on the log. */
    private static final class Places extends Offset {
        private static final ObjectMapper MAPPER = new ObjectMapper();
        private final long[] positions;
        private final int current;
        private final int rows;

        Places(long[] positions, int current, int rows) {
            this.positions = positions;
            this.current = current;
            this.rows = rows;
        }

        static Places parse(String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                long[] positions = MAPPER.convertValue(value.get("positions"), long[].class);
                return new Places(
                        positions, value.get("current").asInt(), value.get("rows").asInt());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String json() {
            ObjectNode value = MAPPER.createObjectNode();
            value.set("positions", MAPPER.valueToTree(positions));
            return value.put("current", current).put("rows", rows).toString();
        }
    }

    /**
     * Where a batch starts.
     *
     * @param files those that have been taken up
     * @param positions as {@link Reached} has them, {@code current} and {@code rows}, too
     * @param pending the files that come next: a batch that failed had taken them up
     */
    record Start(List<SourceFile> files, long[] positions, int current, int rows, List<SourceFile> pending)
            implements InputPartition {}

    @Override
    public Offset initialOffset() {
        return new Places(new long[0], -1, 0);
    }

    @Override
    public Offset deserializeOffset(String json) {
        Places places = Places.parse(json);
        try {
            log.check(places.positions.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return places;
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
        Places places = (Places) start;
        int taken = places.positions.length;
        try {
            List<SourceFile> pending = log.between(taken, log.size());
            return new InputPartition[] {
                new Start(log.between(0, taken), places.positions, places.current, places.rows, pending)
            };
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
        return new Places(reached.positions(), reached.current(), reached.rows());
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        FileSpec spec = this.spec;
        return partition -> new GrowingFileReader(spec, (Start) partition);
    }
}

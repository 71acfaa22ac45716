package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.watermark.SourceWatermarks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/**
 * The stream of rows of time alone.
 *
 * <p>At the end of input there is one row a batch: the first lifts Spark's watermark once the batch with all the data
 * is done, each further one lets it reach the stateful operators behind one more place where it is taken anew. In the
 * place of an idle source, or of one whose watermark is the clock, comes a row whenever the watermark that passes it by
 * has moved, and an empty batch behind, in which it takes effect.
 */
final class ControlStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final long end;
    private final int batches;
    private final SourceWatermarks sources;
    private Long stopped;

    ControlStream(long end, int batches, SourceWatermarks sources) {
        this.end = end;
        this.batches = batches;
        this.sources = sources;
    }

    /**
     * How many rows have ended the input, the times (ms) that have come in the place of sources, and whether they were
     * the clock's for all.
     */
    private static final class ControlOffset extends Offset {
        final int ended;
        final SortedMap<Integer, Long> times;
        final boolean settled;
        final boolean isByClock;

        ControlOffset(int ended, SortedMap<Integer, Long> times, boolean settled, boolean isByClock) {
            this.ended = ended;
            this.times = times;
            this.settled = settled;
            this.isByClock = isByClock;
        }

        static ControlOffset parse(String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                if (value.isInt()) {
                    return new ControlOffset(value.asInt(), new TreeMap<>(), true, false);
                }
                if (!value.has("times")) {
                    throw new IllegalArgumentException("no offset of the control source: " + json);
                }
                SortedMap<Integer, Long> times = new TreeMap<>();
                value.get("times").properties().forEach(t -> times.put(
                        Integer.valueOf(t.getKey()), t.getValue().asLong()));
                boolean isByClock = value.path("clock").asBoolean(false);
                return new ControlOffset(0, times, value.get("settled").asBoolean(), isByClock);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A number alone where no time has come, as in bounded jobs. */
        @Override
        public String json() {
            if (times.isEmpty()) {
                return Integer.toString(ended);
            }
            ObjectNode json = MAPPER.createObjectNode().put("settled", settled);
            if (isByClock) {
                json.put("clock", true);
            }
            return json.<ObjectNode>set("times", MAPPER.valueToTree(times)).toString();
        }
    }

    @Override
    public Offset initialOffset() {
        return new ControlOffset(0, new TreeMap<>(), true, false);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return ControlOffset.parse(json);
    }

    /** What the clock shows now is all that it will show. */
    @Override
    public void prepareForTriggerAvailableNow() {
        stopped = System.currentTimeMillis();
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        ControlOffset from = (ControlOffset) start;
        if (sources == null) {
            return batches == 0
                    ? from
                    : new ControlOffset(Math.min(from.ended + 1, batches), new TreeMap<>(), true, false);
        }
        if (from.isByClock) {
            sources.goByClock();
        }
        SortedMap<Integer, Long> times = new TreeMap<>(from.times);
        long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        long clock = stopped == null ? System.currentTimeMillis() : stopped;
        sources.times(elapsed, clock).forEach((source, time) -> times.merge(source, time, Math::max));
        return new ControlOffset(from.ended, times, times.equals(from.times), sources.isByClock());
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        ControlOffset from = (ControlOffset) start;
        ControlOffset to = (ControlOffset) end;
        List<ControlRow> rows = new ArrayList<>();
        if (to.ended > from.ended) {
            rows.add(new ControlRow(this.end, null));
        }
        if (!to.times.equals(from.times)) { // all of them: after a restart Spark knows none any more
            to.times.forEach((source, time) -> rows.add(new ControlRow(TimeUnit.MILLISECONDS.toMicros(time), source)));
        }
        return rows.toArray(InputPartition[]::new);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return partition -> new ControlReader((ControlRow) partition);
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "ControlStream[time=" + end + "]";
    }

    /** A partition of one row: a time (microseconds) and the source that it is of. */
    private record ControlRow(long time, Integer source) implements InputPartition {}

    private static final class ControlReader implements PartitionReader<InternalRow> {
        private final InternalRow row;
        private boolean read;

        ControlReader(ControlRow partition) {
            row = new GenericInternalRow(new Object[] {partition.time, partition.source});
        }

        @Override
        public boolean next() {
            boolean first = !read;
            read = true;
            return first;
        }

        @Override
        public InternalRow get() {
            return row;
        }

        @Override
        public void close() {}
    }
}

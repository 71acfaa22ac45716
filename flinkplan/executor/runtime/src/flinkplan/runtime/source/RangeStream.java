package flinkplan.runtime.source;

import flinkplan.runtime.python.PythonMethods;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** The stream of ranges of messages: an offset is whatever {@link PythonMethods} makes of it. */
final class RangeStream implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final PythonMethods positions;

    RangeStream(PythonMethods positions) {
        this.positions = positions;
    }

    private static final class Position extends Offset {
        private final String json;

        Position(String json) {
            this.json = json;
        }

        @Override
        public String json() {
            return json;
        }
    }

    @Override
    public Offset initialOffset() {
        return new Position(positions.ask("initial"));
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Position(json);
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        positions.ask("stop_at_what_is_there");
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return new Position(positions.ask("latest", start.json()));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return RangeSource.partitions(positions.ask("between", start.json(), end.json()));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return RangeSource.readers();
    }

    /** What is waited for, and how many messages do; and how many are behind those that were read, see {@link Lag}. */
    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
        Map<String, String> metrics = new TreeMap<>();
        String position = latest.map(Offset::json).orElse("{}");
        if (RangeSource.parse(position).path("waits").asInt(0) > 0) {
            RangeSource.parse(positions.ask("waiting", position))
                    .properties()
                    .forEach(entry -> metrics.put(entry.getKey(), entry.getValue().asText()));
        }
        RangeSource.parse(positions.ask("lag", position))
                .properties()
                .forEach(entry -> metrics.put(
                        Lag.key("messages", entry.getKey()), entry.getValue().asText()));
        return metrics;
    }

    @Override
    public void commit(Offset end) {
        positions.ask("commit", end.json());
    }

    @Override
    public void stop() {
        positions.ask("close");
    }

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "messages";
    }
}

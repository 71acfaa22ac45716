package flinkplan.runtime.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.python.PythonProcess;
import flinkplan.runtime.source.Lag;
import flinkplan.runtime.source.RealTimeStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.types.StructType;

/** The stream of messages that one task reads: an offset has the next one of each partition, by topic and number. */
final class RealTimeMessageStream extends RealTimeStream implements ReportsSourceMetrics {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final StructType schema;
    private final PythonMethods positions;
    private final PythonProcess.Program program;
    private final boolean ticks;

    RealTimeMessageStream(StructType schema, PythonMethods positions, PythonProcess.Program program, boolean ticks) {
        this.schema = schema;
        this.positions = positions;
        this.program = program;
        this.ticks = ticks;
    }

    /** The next message of a partition of a topic. */
    record Place(String topic, int partition, long offset) implements java.io.Serializable {}

    /** Where a batch begins. */
    record Start(List<Place> places) implements InputPartition {}

    /** Where it has ended. */
    record Reached(List<Place> places) implements PartitionOffset {}

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
    public InputPartition[] planInputPartitions(Offset start) {
        List<Place> places = new ArrayList<>();
        JsonNode offsets = parse(positions.ask("start", start.json())).path("positions");
        offsets.properties().forEach(topic -> topic.getValue().properties().forEach(partition -> places.add(new Place(
                topic.getKey(), Integer.parseInt(partition.getKey()), partition.getValue().asLong()))));
        return new InputPartition[] {new Start(places)};
    }

    @Override
    protected Offset reached(PartitionOffset offset) {
        ObjectNode json = MAPPER.createObjectNode();
        ObjectNode offsets = json.putObject("positions");
        for (Place place : ((Reached) offset).places()) {
            offsets.withObjectProperty(place.topic()).put(Integer.toString(place.partition()), place.offset());
        }
        json.putNull("ends").put("settled", true);
        return new Position(json.toString());
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        StructType schema = this.schema;
        PythonProcess.Program program = this.program;
        boolean ticks = this.ticks;
        return partition -> new RealTimeMessageReader(schema, program, ((Start) partition).places(), ticks);
    }

    /** How many messages are behind what was read, see {@link Lag}. */
    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
        Map<String, String> metrics = new TreeMap<>();
        parse(positions.ask("lag", latest.map(Offset::json).orElse("{}")))
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

    private static JsonNode parse(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}

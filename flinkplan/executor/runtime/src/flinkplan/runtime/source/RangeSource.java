package flinkplan.runtime.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.python.PythonMethods;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The source of ranges of messages, which a client in Python then reads in Spark's workers.
 *
 * <p>Where the ranges of a stream begin and end the driver's own Python says ({@link RangeStream}), so that no process
 * is started for it. A range is an object of JSON with the offsets {@code start} and {@code end} and whatever else the
 * client needs. Those of a task are a partition, which has as many rows as messages, so that Spark counts these; the
 * first one has the array of the ranges, the others are NULL. Options: {@code tasks}, those of a batch as an array of
 * such arrays, or {@code positions}, what {@link PositionStream#offer} gave.
 */
public final class RangeSource implements TableProvider {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return StructType.fromDDL("ranges string");
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        PythonMethods positions = PositionStream.offered(options.get("positions"));
        return ScannedTable.of("messages", schema, options, () -> new RangeScan(schema, options.get("tasks"), positions));
    }

    /** The partitions of the tasks. */
    static InputPartition[] partitions(String tasks) {
        return StreamSupport.stream(parse(tasks).spliterator(), false)
                .map(ranges -> new RangePartition(ranges.toString(), messages(ranges)))
                .toArray(InputPartition[]::new);
    }

    private static long messages(JsonNode ranges) {
        return StreamSupport.stream(ranges.spliterator(), false)
                .mapToLong(range -> range.get("end").asLong() - range.get("start").asLong())
                .sum();
    }

    static JsonNode parse(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    static PartitionReaderFactory readers() {
        return partition -> new RangeReader((RangePartition) partition);
    }

    private record RangeScan(StructType readSchema, String tasks, PythonMethods positions) implements Scan {
        @Override
        public Batch toBatch() {
            return new RangeBatch(tasks);
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new RangeStream(positions);
        }
    }

    private record RangeBatch(String tasks) implements Batch {
        @Override
        public InputPartition[] planInputPartitions() {
            return partitions(tasks);
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return readers();
        }
    }

    private record RangePartition(String ranges, long messages) implements InputPartition {}

    private static final class RangeReader implements PartitionReader<InternalRow> {
        private final RangePartition partition;
        private long given;

        RangeReader(RangePartition partition) {
            this.partition = partition;
        }

        @Override
        public boolean next() {
            return given++ < partition.messages;
        }

        @Override
        public InternalRow get() {
            UTF8String ranges = given == 1 ? UTF8String.fromString(partition.ranges) : null;
            return new GenericInternalRow(new Object[] {ranges});
        }

        @Override
        public void close() {}
    }
}

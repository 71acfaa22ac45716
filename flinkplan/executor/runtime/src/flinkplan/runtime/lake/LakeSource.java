package flinkplan.runtime.lake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.source.InputSize;
import flinkplan.runtime.source.PositionStream;
import flinkplan.runtime.source.ScannedTable;
import flinkplan.runtime.source.ScannedTableProvider;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * The source of tables of lakes, whose files are {@link DataFiles}.
 *
 * <p>Options: {@code partitions}, how many of the last columns are those of partitions; either {@code files}, the array
 * of those of a batch, or {@code positions}, what {@link PositionStream#offer} gave.
 */
public final class LakeSource extends ScannedTableProvider {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    protected Table table(StructType schema, Map<String, String> options) {
        DataFiles files = DataFiles.of(schema, Integer.parseInt(options.get("partitions")));
        PythonMethods positions = PositionStream.offered(options.get("positions"));
        String batch = options.get("files");
        return ScannedTable.of("lake table", schema, options, () -> new LakeScan(schema, files, batch, positions));
    }

    static JsonNode parse(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record LakeScan(StructType readSchema, DataFiles files, String batch, PythonMethods positions)
            implements Scan, SupportsReportStatistics {
        @Override
        public Batch toBatch() {
            return new LakeBatch(files, batch);
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new LakeStream(files, positions);
        }

        @Override
        public Statistics estimateStatistics() {
            return new InputSize(batch == null ? OptionalLong.empty() : OptionalLong.of(DataFiles.bytes(parse(batch))));
        }
    }

    private record LakeBatch(DataFiles files, String batch) implements Batch {
        @Override
        public InputPartition[] planInputPartitions() {
            return files.plan(parse(batch));
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return files.readers();
        }
    }
}

package flinkplan.runtime.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.source.ScannedTable;
import flinkplan.runtime.source.ScannedTableProvider;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** The source of tables in databases: their columns, then a column that numbers the rows. */
public final class JdbcSource extends ScannedTableProvider {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    protected Table table(StructType schema, Map<String, String> options) {
        try {
            JdbcScan scan = JdbcScan.of(MAPPER.readTree(options.get("secret")));
            return ScannedTable.of("table " + scan.table.name(), schema, options, () -> new JdbcRead(schema, scan));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /**
     * What is read.
     *
     * @param column the column of numbers by which the parts are read; null where all rows are one part
     * @param settles whether the batch with the rows is followed by one without, in which the watermark takes effect
     */
    record JdbcScan(
            JdbcTable table,
            JdbcFilter filter,
            String column,
            List<Part> parts,
            int fetchSize,
            boolean autoCommit,
            boolean settles)
            implements Batch, Serializable {

        static JdbcScan of(JsonNode json) {
            JsonNode by = json.get("partitions");
            List<Part> parts = by.isNull()
                    ? List.of(new Part(0, 0, 0))
                    : parts(by.get("lower").asLong(), by.get("upper").asLong(), by.get("count").asInt());
            return new JdbcScan(
                    JdbcTable.of(json),
                    JdbcFilter.of(json.get("filters")),
                    by.isNull() ? null : by.get("column").asText(),
                    parts,
                    json.get("fetchSize").asInt(),
                    json.get("autoCommit").asBoolean(),
                    json.get("settles").asBoolean());
        }

        /** As Flink's {@code JdbcNumericBetweenParametersProvider}: the first parts are one number longer. */
        private static List<Part> parts(long lower, long upper, int count) {
            long numbers = upper - lower + 1;
            long wanted = Math.max(Math.min(count, numbers), 1);
            long size = numbers / wanted;
            long longer = numbers % wanted;
            List<Part> parts = new ArrayList<>();
            long start = lower;
            for (int i = 0; i < wanted; i++) {
                long end = start + size - (i < longer ? 0 : 1);
                parts.add(new Part(i, start, end));
                start = end + 1;
            }
            return parts;
        }

        @Override
        public InputPartition[] planInputPartitions() {
            return parts.toArray(InputPartition[]::new);
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            JdbcScan scan = this;
            return partition -> new JdbcReader(scan, (Part) partition);
        }
    }

    /** The rows whose number is in {@code [lower, upper]}. */
    record Part(int index, long lower, long upper) implements InputPartition {}

    private record JdbcRead(StructType readSchema, JdbcScan scan) implements Scan {

        @Override
        public String description() {
            return "table " + scan.table.name();
        }

        @Override
        public Batch toBatch() {
            return scan;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new JdbcStream(scan);
        }
    }
}

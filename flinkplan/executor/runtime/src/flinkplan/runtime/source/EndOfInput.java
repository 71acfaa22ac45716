package flinkplan.runtime.source;

import flinkplan.runtime.Rows;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The source that ends bounded input: one row a batch, for some batches, whose time is the end of time.
 *
 * <p>The first lifts Spark's watermark once the batch with all the data is done; each further batch lets the
 * watermark reach the stateful operators behind one more place where it is taken anew. Options: {@code time}
 * (microseconds) and {@code batches}; with none of these the input stays open.
 */
public final class EndOfInput implements TableProvider {

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return StructType.fromDDL("time timestamp");
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        return new EndTable(schema, Long.parseLong(options.get("time")), Integer.parseInt(options.get("batches")));
    }

    private record EndTable(StructType rows, long time, int batches) implements Table, SupportsRead {
        @Override
        public String name() {
            return "end of input";
        }

        @Override
        public Column[] columns() {
            return Rows.columns(rows);
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () -> new EndScan(rows, time, batches);
        }
    }

    private record EndScan(StructType readSchema, long time, int batches) implements Scan {
        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new EndStream(time, batches);
        }
    }

    private static final class BatchOffset extends Offset {
        final int batch;

        BatchOffset(int batch) {
            this.batch = batch;
        }

        @Override
        public String json() {
            return Integer.toString(batch);
        }
    }

    private record EndPartition() implements InputPartition {}

    private record EndStream(long time, int batches) implements MicroBatchStream, SupportsTriggerAvailableNow {
        @Override
        public Offset initialOffset() {
            return new BatchOffset(0);
        }

        @Override
        public Offset deserializeOffset(String json) {
            return new BatchOffset(Integer.parseInt(json));
        }

        @Override
        public void prepareForTriggerAvailableNow() {}

        @Override
        public Offset latestOffset() {
            throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
        }

        @Override
        public Offset latestOffset(Offset start, ReadLimit limit) {
            return new BatchOffset(Math.min(((BatchOffset) start).batch + 1, batches));
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            boolean isNew = ((BatchOffset) end).batch > ((BatchOffset) start).batch;
            return isNew ? new InputPartition[] {new EndPartition()} : new InputPartition[0];
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            long time = this.time;
            return partition -> new EndReader(time);
        }

        @Override
        public void commit(Offset end) {}

        @Override
        public void stop() {}
    }

    private static final class EndReader implements PartitionReader<InternalRow> {
        private final InternalRow row;
        private boolean read;

        EndReader(long time) {
            row = new GenericInternalRow(new Object[] {time});
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

package flinkplan.runtime.jdbc;

import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** A table that is read once, in the first batch: an offset counts the batches. */
final class JdbcStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private final JdbcSource.JdbcScan scan;

    JdbcStream(JdbcSource.JdbcScan scan) {
        this.scan = scan;
    }

    private static final class Batches extends Offset {
        final int count;

        Batches(int count) {
            this.count = count;
        }

        @Override
        public String json() {
            return Integer.toString(count);
        }
    }

    @Override
    public Offset initialOffset() {
        return new Batches(0);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Batches(Integer.parseInt(json));
    }

    @Override
    public void prepareForTriggerAvailableNow() {}

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return new Batches(Math.min(((Batches) start).count + 1, scan.settles() ? 2 : 1));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        boolean isFirst = ((Batches) start).count == 0 && ((Batches) end).count > 0;
        return isFirst ? scan.planInputPartitions() : new InputPartition[0];
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return scan.createReaderFactory();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
}

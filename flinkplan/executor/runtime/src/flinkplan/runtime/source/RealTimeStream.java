package flinkplan.runtime.source;

import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;

/** A stream that one task reads in real-time mode: where a batch ends is known when it has ended. */
public abstract class RealTimeStream implements MicroBatchStream, SupportsRealTimeMode {
    private Offset last;

    /** The offset of a batch whose reader has come so far. */
    protected abstract Offset reached(PartitionOffset offset);

    @Override
    public final Offset mergeOffsets(PartitionOffset[] offsets) {
        last = reached(offsets[0]);
        return last;
    }

    /** Spark asks before a batch and does not use the answer. */
    @Override
    public final Offset latestOffset() {
        return last == null ? initialOffset() : last;
    }

    @Override
    public final InputPartition[] planInputPartitions(Offset start, Offset end) {
        throw new UnsupportedOperationException("this stream is of real-time mode alone");
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
}

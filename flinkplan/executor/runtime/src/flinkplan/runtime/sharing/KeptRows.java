package flinkplan.runtime.sharing;

import java.util.Iterator;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/** The rows of a micro-batch that several parts of a query share, in memory as far as they fit; their identity, too. */
public final class KeptRows {
    private JavaRDD<byte[]> chunks;
    private RDD<InternalRow> rows;

    /**
     * Has the rows of a micro-batch computed once, when they are first read.
     *
     * @param atOnce whether they are computed now: tasks of several executors would not wait for each other
     */
    synchronized RDD<InternalRow> keep(RDD<InternalRow> computed, StructType schema, boolean atOnce) {
        release();
        int width = schema.length();
        chunks = computed.toJavaRDD()
                .mapPartitions((Iterator<InternalRow> partition) -> new RowChunks(partition, schema), true)
                .persist(StorageLevel.MEMORY_AND_DISK());
        if (atOnce) {
            chunks.foreachPartition(partition -> {});
        }
        rows = chunks.mapPartitions(
                        (Iterator<byte[]> partition) -> (Iterator<InternalRow>) new ChunkRows(partition, width), true)
                .rdd();
        return rows;
    }

    /** What was kept before. */
    synchronized RDD<InternalRow> rows() {
        if (rows == null) {
            throw new IllegalStateException("shared rows are read before they are kept");
        }
        return rows;
    }

    /** Keeps nothing any more. */
    synchronized void release() {
        if (chunks != null) {
            chunks.unpersist(false);
        }
        chunks = null;
        rows = null;
    }

    /** How plans show it. */
    @Override
    public String toString() {
        return "kept";
    }
}

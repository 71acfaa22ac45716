package flinkplan.runtime.sink;

import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.streaming.Sink;

/**
 * Hands the micro-batches of a stream to a {@link PlannedWriter} as they are.
 *
 * <p>Spark's own sink for functions makes another frame of each, which it analyzes, so that more can be done with it.
 */
public final class BatchSink implements Sink {
    private final VoidFunction2<Dataset<Row>, Long> writer;

    /** @param writer the writer itself, or what calls it */
    public BatchSink(VoidFunction2<Dataset<Row>, Long> writer) {
        this.writer = writer;
    }

    /** Whether a writer is one that can be handed micro-batches as they are. */
    public static boolean takes(Object writer) {
        return writer instanceof PlannedWriter;
    }

    @Override
    public void addBatch(long batch, Dataset<Row> rows) {
        try {
            writer.call(rows, batch);
        } catch (Exception e) {
            throw BatchSink.<RuntimeException>unchecked(e);
        }
    }

    /** The exception as it is, which Scala does not declare. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> E unchecked(Exception e) throws E {
        throw (E) e;
    }

    /** How progress shows it. */
    @Override
    public String toString() {
        return "table";
    }
}

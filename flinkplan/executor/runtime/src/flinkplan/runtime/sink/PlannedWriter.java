package flinkplan.runtime.sink;

import java.io.IOException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;

/** A writer that says what is done with rows before they are written, so that a stream is planned with it, and once. */
public interface PlannedWriter extends EndingWriter {

    /** The rows of a stream as {@link #call} writes those of each micro-batch. */
    Dataset<Row> planned(Dataset<Row> rows);

    /** Declared again for Python, which finds the methods of a class's own interfaces only. */
    @Override
    default void end() throws IOException {}

    /** Whether rows are those of a micro-batch of a stream that was planned so. */
    static boolean arePlanned(Dataset<Row> rows) {
        return rows.queryExecution() instanceof IncrementalExecution;
    }
}

package flinkplan.runtime.sink;

import java.io.IOException;
import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** Takes the rows of a partition of a batch. */
interface RowSink extends Serializable {

    /**
     * Writes rows; the same batch may come again after a failure.
     *
     * @param batch the name of the batch: no other batch of any job has it, and names sort as batches follow
     * @param changelog whether a row kind follows the columns
     * @return how many rows were written
     */
    long write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) throws IOException;
}

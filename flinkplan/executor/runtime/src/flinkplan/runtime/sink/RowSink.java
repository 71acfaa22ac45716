package flinkplan.runtime.sink;

import java.io.IOException;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** Takes the rows of a partition of a batch. */
interface RowSink extends Serializable {

    /**
     * What a task has done.
     *
     * @param rows how many rows it has written
     * @param files what is to be shown to readers when all tasks are done
     */
    record Written(long rows, List<Publication.Staged> files) implements Serializable {
        Written(long rows) {
            this(rows, List.of());
        }
    }

    /**
     * Writes rows; the same batch may come again after a failure.
     *
     * @param batch the name of the batch: no other batch of any job has it, and names sort as batches follow
     * @param changelog whether a row kind follows the columns
     */
    Written write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) throws IOException;

    /** Whether anybody can tell in which order the changes of a key come. */
    default boolean keepsOrder() {
        return true;
    }
}

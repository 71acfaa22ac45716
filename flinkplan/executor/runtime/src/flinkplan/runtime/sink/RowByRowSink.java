package flinkplan.runtime.sink;

import java.io.Closeable;
import java.io.IOException;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** A sink that takes each row when it comes. */
interface RowByRowSink extends RowSink {

    /** Takes the rows of a partition of a batch; what is closed before it has finished has failed. */
    interface Writer extends Closeable {
        void write(InternalRow row) throws IOException;

        /** Ends the rows; returns what is to be shown to readers when all tasks are done. */
        Written finish() throws IOException;

        @Override
        default void close() throws IOException {}
    }

    /** Begins on the rows of a partition; the parameters are those of {@link #write}. */
    Writer open(String batch, int task, boolean changelog) throws IOException;

    @Override
    default Written write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) throws IOException {
        try (Writer writer = open(batch, task, changelog)) {
            while (rows.hasNext()) {
                writer.write(rows.next());
            }
            return writer.finish();
        }
    }
}

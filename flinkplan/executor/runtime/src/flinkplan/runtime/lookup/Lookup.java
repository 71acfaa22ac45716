package flinkplan.runtime.lookup;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** A table that is asked for the rows of keys. */
public interface Lookup extends Serializable {

    /** What tells one key from another, as the table does. */
    Object identity(InternalRow key);

    /** A connection to the table, for one task. */
    Session open() throws IOException;

    interface Session extends AutoCloseable {

        /** The rows of each of some keys, in their order. */
        List<List<InternalRow>> rows(List<InternalRow> keys) throws IOException;

        @Override
        void close() throws IOException;
    }
}

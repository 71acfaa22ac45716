package flinkplan.runtime.sink;

import flinkplan.runtime.jdbc.JdbcWriter;
import java.io.IOException;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes rows into a table of a database. */
record JdbcSink(JdbcWriter writer) implements RowSink {

    @Override
    public Written write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) throws IOException {
        return new Written(writer.write(rows, changelog));
    }
}

package flinkplan.runtime.sink;

import flinkplan.runtime.jdbc.JdbcBuffer;
import flinkplan.runtime.jdbc.JdbcWriter;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes rows into a table of a database. */
record JdbcSink(JdbcWriter writer) implements RowByRowSink {

    @Override
    public Writer open(String batch, int task, boolean changelog) {
        JdbcBuffer rows = writer.open(changelog);
        return new Writer() {
            @Override
            public void write(InternalRow row) throws IOException {
                rows.add(row);
            }

            @Override
            public Written finish() throws IOException {
                return new Written(rows.finish());
            }

            @Override
            public void close() {
                rows.close();
            }
        };
    }
}

package flinkplan.runtime.sink;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** Swallows rows. */
record BlackholeSink() implements RowSink {

    @Override
    public Written write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) {
        long count = 0;
        for (; rows.hasNext(); rows.next()) {
            count++;
        }
        return new Written(count);
    }
}

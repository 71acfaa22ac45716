package flinkplan.runtime.sink;

import flinkplan.runtime.format.RowText;
import java.io.PrintStream;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** Prints rows with their kinds, as in {@code +I[1, a]}. */
record PrintSink(String identifier, boolean toErrors, RowText text, int width) implements RowSink {
    private static final String[] KINDS = {"+I", "-U", "+U", "-D"};

    @Override
    public Written write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) {
        PrintStream out = toErrors ? System.err : System.out;
        String prefix = identifier.isEmpty() ? "" : identifier + "> ";
        long count = 0;
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            out.println(prefix + KINDS[changelog ? row.getByte(width) : 0] + text.of(row));
            count++;
        }
        return new Written(count);
    }
}

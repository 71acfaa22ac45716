package flinkplan.runtime.sink;

import flinkplan.runtime.format.RowText;
import java.io.PrintStream;
import org.apache.spark.sql.catalyst.InternalRow;

/** Prints rows with their kinds, as in {@code +I[1, a]}. */
record PrintSink(String identifier, boolean toErrors, RowText text, int width) implements RowByRowSink {
    private static final String[] KINDS = {"+I", "-U", "+U", "-D"};

    @Override
    public Writer open(String batch, int task, boolean changelog) {
        PrintStream out = toErrors ? System.err : System.out;
        String prefix = identifier.isEmpty() ? "" : identifier + "> ";
        PrintedLines lines = new PrintedLines(out);
        StringBuilder line = new StringBuilder();
        return new Writer() {
            private long count;

            @Override
            public void write(InternalRow row) {
                line.setLength(0);
                text.append(line.append(prefix).append(KINDS[changelog ? row.getByte(width) : 0]), row);
                lines.add(line);
                count++;
            }

            @Override
            public Written finish() {
                return new Written(count);
            }

            @Override
            public void close() {
                lines.print();
            }
        };
    }
}

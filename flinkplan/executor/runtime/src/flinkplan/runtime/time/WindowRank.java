package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import flinkplan.runtime.time.WindowSpan.Window;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** The first rows of each window in some order: one struct column of the input, then perhaps the row number. */
public final class WindowRank extends WindowKernel {
    private final int column;
    private final RowOrder rowOrder;
    private final long first;
    private final long last;
    private final boolean numbered;
    private final boolean latestFirst;

    /**
     * @param first the lowest row number that is emitted, from 1; {@code last} the highest
     * @param numbered whether the row number is emitted
     * @param latestFirst whether of equal rows the latest comes first, not the earliest
     */
    public WindowRank(
            StructType input,
            StructType columns,
            WindowSpan span,
            int column,
            RowOrder rowOrder,
            long first,
            long last,
            boolean numbered,
            boolean latestFirst) {
        super(input, columns, span);
        this.column = column;
        this.rowOrder = rowOrder;
        this.first = first;
        this.last = last;
        this.numbered = numbered;
        this.latestFirst = latestFirst;
    }

    @Override
    void close(Window window) {
        int width = Rows.struct(input(), column).length();
        List<InternalRow> rows = window.rows();
        if (latestFirst) {
            Collections.reverse(rows);
        }
        rows.sort((a, b) -> rowOrder.compare(a.getStruct(column, width), b.getStruct(column, width)));
        for (long number = first; number <= Math.min(last, rows.size()); number++) {
            InternalRow row = rows.get((int) number - 1);
            InternalRow values = row.getStruct(column, width);
            emit(RowKind.INSERT, numbered ? new JoinedRow(values, Rows.of(number)) : values, sequence(row));
        }
    }
}

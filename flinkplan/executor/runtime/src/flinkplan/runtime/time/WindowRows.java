package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import flinkplan.runtime.time.WindowSpan.Window;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** Emits each window's rows when it closes: one struct column of the input, then start and end. */
public final class WindowRows extends WindowKernel {
    private final int column;

    public WindowRows(StructType input, StructType columns, WindowSpan span, int column) {
        super(input, columns, span);
        this.column = column;
    }

    @Override
    void close(Window window) {
        int width = Rows.struct(input(), column).length();
        for (InternalRow row : window.rows()) {
            InternalRow bounds = Rows.of(window.start(), window.end());
            emit(RowKind.INSERT, new JoinedRow(row.getStruct(column, width), bounds), sequence(row));
        }
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.time.WindowSpan.Window;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** Emits each window's rows when it closes: one struct column of the input, then start and end. */
public final class WindowRows extends WindowKernel {
    private final int rowOrdinal;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     */
    public record Spec(StructType columns, WindowSpan span) implements Serializable {}

    public WindowRows(StructType input, Spec spec) {
        super(input, spec.columns, spec.span);
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    void close(Window window) {
        int width = Rows.struct(input(), rowOrdinal).length();
        for (InternalRow row : window.rows()) {
            InternalRow bounds = Rows.of(window.start(), window.end());
            emit(RowKind.INSERT, new JoinedRow(row.getStruct(rowOrdinal, width), bounds), sequence(row));
        }
    }
}

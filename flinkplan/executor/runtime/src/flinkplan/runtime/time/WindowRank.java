package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.time.WindowSpan.Window;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** The first rows of each window in some order: one struct column of the input, then perhaps the row number. */
public final class WindowRank extends WindowKernel {
    private final Spec spec;
    private final int rowOrdinal;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param first the lowest row number that is emitted, from 1
     * @param last the highest
     * @param numbered whether the row number is emitted
     * @param latestFirst whether of equal rows the latest comes first, not the earliest
     */
    public record Spec(
            StructType columns,
            WindowSpan span,
            RowOrder rowOrder,
            long first,
            long last,
            boolean numbered,
            boolean latestFirst)
            implements Serializable {}

    public WindowRank(StructType input, Spec spec) {
        super(input, spec.columns, spec.span);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    /** The first rows of each window, up to the last rank. */
    @Override
    List<InternalRow> wanted(List<InternalRow> rows) {
        Set<InternalRow> first = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Window window : spec.span().windows(rows)) {
            inOrder(window.rows());
            List<InternalRow> ranked = ranked(window);
            first.addAll(ranked.subList(0, (int) Math.min(spec.last(), ranked.size())));
        }
        return rows.stream().filter(first::contains).collect(Collectors.toCollection(ArrayList::new));
    }

    /** The rows of a window, which stand in the order they came, by their ranks. */
    private List<InternalRow> ranked(Window window) {
        int width = Rows.struct(input(), rowOrdinal).length();
        List<InternalRow> rows = window.rows();
        if (spec.latestFirst()) {
            Collections.reverse(rows);
        }
        rows.sort((a, b) -> spec.rowOrder()
                .compare(a.getStruct(rowOrdinal, width), b.getStruct(rowOrdinal, width)));
        return rows;
    }

    @Override
    void close(Window window) {
        int width = Rows.struct(input(), rowOrdinal).length();
        List<InternalRow> rows = ranked(window);
        for (long number = spec.first(); number <= Math.min(spec.last(), rows.size()); number++) {
            InternalRow row = rows.get((int) number - 1);
            InternalRow values = row.getStruct(rowOrdinal, width);
            emit(RowKind.INSERT, spec.numbered() ? new JoinedRow(values, Rows.of(number)) : values, sequence(row));
        }
    }
}

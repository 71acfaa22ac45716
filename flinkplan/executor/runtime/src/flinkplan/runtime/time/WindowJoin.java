package flinkplan.runtime.time;

import flinkplan.runtime.join.JoinKind;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.time.WindowSpan.Window;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** Joins the rows of two inputs that share key and window, when the window closes. */
public final class WindowJoin extends WindowKernel {
    private final Spec spec;
    private transient JoinInput side;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     */
    public record Spec(StructType columns, WindowSpan span, JoinKind kind, Match match) implements Serializable {}

    public WindowJoin(StructType input, Spec spec) {
        super(input, spec.columns, spec.span);
        this.spec = spec;
    }

    @Override
    protected void open() {
        super.open();
        side = JoinInput.of(input());
        spec.match().open();
    }

    @Override
    protected void begin(InternalRow key) {
        super.begin(key);
        spec.match().begin(key);
    }

    @Override
    void close(Window window) {
        List<InternalRow> rights = new ArrayList<>();
        for (InternalRow row : window.rows()) {
            if (side.isRight(row)) {
                rights.add(side.values(row));
            }
        }
        boolean[] matched = new boolean[rights.size()];
        for (InternalRow row : window.rows()) {
            if (!side.isRight(row)) {
                join(side.values(row), rights, matched, sequence(row));
            }
        }
        if (spec.kind().keepsRight()) {
            for (int i = 0; i < matched.length; i++) {
                if (!matched[i]) {
                    emit(RowKind.INSERT, new JoinedRow(side.noLeft(), rights.get(i)), window.end());
                }
            }
        }
    }

    private void join(InternalRow left, List<InternalRow> rights, boolean[] matched, long sequence) {
        boolean any = false;
        boolean pairs = spec.kind().pairs();
        for (int i = 0; i < matched.length; i++) {
            if (spec.match().of(left, rights.get(i))) {
                any = true;
                matched[i] = true;
                if (pairs) {
                    emit(RowKind.INSERT, new JoinedRow(left, rights.get(i)), sequence);
                }
            }
        }
        if (spec.kind() == (any ? JoinKind.SEMI : JoinKind.ANTI)) {
            emit(RowKind.INSERT, left, sequence);
        } else if (!any && spec.kind().keepsLeft()) {
            emit(RowKind.INSERT, new JoinedRow(left, side.noRight()), sequence);
        }
    }
}

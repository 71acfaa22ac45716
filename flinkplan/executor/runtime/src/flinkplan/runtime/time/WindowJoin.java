package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.time.WindowSpan.Window;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** Joins the rows of two inputs that share key and window, when the window closes. */
public final class WindowJoin extends WindowKernel {
    /** What is emitted of rows and their matches. */
    public enum Kind {
        INNER,
        LEFT,
        RIGHT,
        FULL,
        SEMI,
        ANTI
    }

    private final Kind kind;
    private final Match match;
    private transient Side side;

    public WindowJoin(StructType input, StructType columns, WindowSpan span, String kind, Match match) {
        super(input, columns, span);
        this.kind = Kind.valueOf(kind);
        this.match = match;
    }

    @Override
    protected void open() {
        super.open();
        side = Side.of(input());
        match.open();
    }

    @Override
    protected void begin(InternalRow key) {
        super.begin(key);
        match.begin(key);
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
        if (kind == Kind.RIGHT || kind == Kind.FULL) {
            for (int i = 0; i < matched.length; i++) {
                if (!matched[i]) {
                    emit(RowKind.INSERT, new JoinedRow(side.noLeft(), rights.get(i)), window.end());
                }
            }
        }
    }

    private void join(InternalRow left, List<InternalRow> rights, boolean[] matched, long sequence) {
        boolean any = false;
        boolean pairs = kind != Kind.SEMI && kind != Kind.ANTI;
        for (int i = 0; i < matched.length; i++) {
            if (match.of(left, rights.get(i))) {
                any = true;
                matched[i] = true;
                if (pairs) {
                    emit(RowKind.INSERT, new JoinedRow(left, rights.get(i)), sequence);
                }
            }
        }
        if (any ? kind == Kind.SEMI : kind == Kind.ANTI) {
            emit(RowKind.INSERT, left, sequence);
        } else if (!any && (kind == Kind.LEFT || kind == Kind.FULL)) {
            emit(RowKind.INSERT, new JoinedRow(left, side.noRight()), sequence);
        }
    }
}

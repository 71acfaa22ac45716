package flinkplan.runtime.time;

import flinkplan.runtime.time.WindowSpan.Window;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/** An operator that keeps the rows of each window until it closes. Rows of closed windows are dropped. */
abstract class WindowKernel extends TimedKernel {
    /** So many rows are looked through for what is still wanted, and then twice as many as that was. */
    private static final int LOOKED_THROUGH = 1 << 12;

    private final WindowSpan span;
    private transient RowBuffer rows;
    private transient int most;

    WindowKernel(StructType input, StructType columns, WindowSpan span) {
        super(input, columns, false);
        this.span = span;
    }

    /** What is still wanted of the rows that have come to open windows, in the same order. */
    List<InternalRow> wanted(List<InternalRow> rows) {
        return rows;
    }

    /** Emits the result of a window whose rows stand in the order they came. */
    abstract void close(Window window);

    @Override
    protected void open() {
        rows = buffer("rows", input());
    }

    /** A late row belongs to a session that it touches, if that has not closed. */
    @Override
    protected boolean lateRowsDependOnEmitted() {
        return span.session() && timeMode().equals(TimeMode.EventTime());
    }

    @Override
    protected void begin(InternalRow key) {
        rows.begin();
        most = LOOKED_THROUGH;
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        long due = span.fires(row);
        if (due <= watermark && !(span.session() && span.touchesAny(row, rows.all()))) {
            return drop(watermark - due);
        }
        rows.add(row);
        if (rows.size() >= most) {
            rows.keep(this::wanted);
            most = Math.max(LOOKED_THROUGH, 2 * rows.size());
        }
        return due;
    }

    @Override
    protected long fire(long watermark) {
        long next = NEVER;
        List<InternalRow> open = new ArrayList<>();
        for (Window window : span.windows(rows.all())) {
            long due = span.fires(window.end());
            if (due <= watermark) {
                inOrder(window.rows());
                close(window);
            } else {
                open.addAll(window.rows());
                next = Math.min(next, due);
            }
        }
        if (open.size() < rows.all().size()) {
            rows.replace(open);
        }
        return next;
    }

    @Override
    protected final void store() {
        rows.store();
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.time.WindowSpan.Window;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates the rows of each session, which are kept because sessions merge: the key (unless it is a constant), the
 * results, start and end.
 */
public final class SessionAggregate extends WindowKernel {
    private final WindowSpan span;
    private final Aggregation aggregation;
    private final boolean keyed;
    private transient InternalRow key;

    public SessionAggregate(
            StructType input, StructType columns, WindowSpan span, Aggregation aggregation, boolean keyed) {
        super(input, columns, span);
        this.span = span;
        this.aggregation = aggregation;
        this.keyed = keyed;
    }

    @Override
    protected void open() {
        super.open();
        aggregation.open(null);
    }

    @Override
    protected void begin(InternalRow key) {
        super.begin(key);
        this.key = key;
    }

    @Override
    void close(Window window) {
        aggregation.begin();
        long count = 0;
        boolean inOrder = aggregation.orderMatters();
        for (InternalRow row : inOrder ? SessionMerges.inOrder(window.rows(), span) : window.rows()) {
            if (RowKind.retracts(kind(row))) {
                aggregation.retract(row);
                count--;
            } else {
                aggregation.add(row);
                count++;
            }
        }
        if (count > 0) {
            InternalRow results = new JoinedRow(aggregation.values(), Rows.of(window.start(), window.end()));
            emit(RowKind.INSERT, keyed ? new JoinedRow(key, results) : results, window.end());
        }
    }
}

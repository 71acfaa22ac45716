package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.time.WindowSpan.Window;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates the rows of each session, which are kept because sessions merge: the key (unless it is a constant), the
 * results, start and end.
 */
public final class SessionAggregate extends WindowKernel {
    private final Spec spec;
    private transient InternalRow key;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param keyed whether the key is emitted
     */
    public record Spec(StructType columns, WindowSpan span, Aggregation aggregation, boolean keyed)
            implements Serializable {}

    public SessionAggregate(StructType input, Spec spec) {
        super(input, spec.columns, spec.span);
        this.spec = spec;
    }

    @Override
    protected void open() {
        super.open();
        spec.aggregation().open(null);
    }

    @Override
    protected void begin(InternalRow key) {
        super.begin(key);
        this.key = key;
    }

    @Override
    void close(Window window) {
        spec.aggregation().begin();
        long count = 0;
        boolean inOrder = spec.aggregation().orderMatters();
        for (InternalRow row : inOrder ? SessionMerges.inOrder(window.rows(), spec.span()) : window.rows()) {
            if (RowKind.retracts(kind(row))) {
                spec.aggregation().retract(row);
                count--;
            } else {
                spec.aggregation().add(row);
                count++;
            }
        }
        if (count > 0) {
            InternalRow results = new JoinedRow(spec.aggregation().values(), Rows.of(window.start(), window.end()));
            emit(RowKind.INSERT, spec.keyed() ? new JoinedRow(key, results) : results, window.end());
        }
    }
}

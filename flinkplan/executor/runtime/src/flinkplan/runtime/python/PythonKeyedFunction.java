package flinkplan.runtime.python;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Place;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * A process table function in Python that looks at no watermark and sets no timers: states expire by themselves.
 *
 * <p>Its rows are keyed by the number of a key group, so that many keys are worked on in one go.
 */
public final class PythonKeyedFunction extends ChangelogKernel {
    private static final long serialVersionUID = 1;

    private final FunctionCalls.Spec spec;
    private transient FunctionCalls calls;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds
     */
    public record Spec(StructType columns, boolean changelog, FunctionCalls.Spec function) implements Serializable {}

    public PythonKeyedFunction(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec.function;
    }

    @Override
    protected void open() {
        calls = new FunctionCalls(this, input(), spec, false);
    }

    @Override
    protected int inputs() {
        return spec.sorts().length;
    }

    @Override
    protected int input(InternalRow row) {
        return calls.table(row);
    }

    @Override
    protected void begin(InternalRow group) {
        calls.begin(clock());
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        long number = calls.sequence(row, sequence(row));
        calls.eval(row, kind, null, Long.MIN_VALUE, Long.MIN_VALUE, number, place(row));
    }

    @Override
    protected void finish() {
        calls.end((kind, row, sequence, place, nth, count, behind) ->
                emit(kind, row, sequence, count == 1 ? place : Place.part(place, nth, count)));
    }

    @Override
    public void close() {
        calls.release();
        super.close();
    }
}

package flinkplan.runtime.process;

import flinkplan.runtime.kernel.ChangelogKernel;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** A process table function that looks at no watermark and sets no timers: states expire by themselves. */
public final class KeyedFunction extends ChangelogKernel {
    private final FunctionHost.Spec spec;
    private transient FunctionHost host;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds
     */
    public record Spec(StructType columns, boolean changelog, FunctionHost.Spec function) implements Serializable {}

    public KeyedFunction(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec.function;
    }

    @Override
    protected void open() {
        host = new FunctionHost(this, input(), spec, false, () -> 0) {
            @Override
            void take(byte kind, InternalRow row) {
                KeyedFunction.this.emit(kind, row);
            }

            @Override
            public long watermark() {
                return Long.MIN_VALUE;
            }

            @Override
            public void register(String name, long time) {
                // the class has no method that a timer could call: Flink sets it and fails when it fires
            }

            @Override
            public void unregister(String name) {}

            @Override
            public void unregister(long time) {}

            @Override
            public void unregisterAll() {}
        };
    }

    @Override
    protected int inputs() {
        return spec.sorts().length;
    }

    @Override
    protected int input(InternalRow row) {
        return host.table(row);
    }

    @Override
    protected void begin(InternalRow key) {
        host.begin(key);
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        host.eval(row, kind, Long.MIN_VALUE);
    }

    @Override
    protected void finish() {
        host.end();
    }
}

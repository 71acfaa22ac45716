package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** An aggregate function that is another's over other rows. */
abstract class Delegating extends Accumulator {
    protected final Accumulator function;

    protected Delegating(Accumulator function) {
        this.function = function;
    }

    @Override
    final StructType schema() {
        return function.schema();
    }

    @Override
    void open(States states, String name, long ttl) {
        function.open(states, name, ttl);
    }

    @Override
    void begin(boolean isNew) {
        function.begin(isNew);
    }

    @Override
    final void reset() {
        function.reset();
    }

    @Override
    final void load(InternalRow saved) {
        function.load(saved);
    }

    @Override
    final InternalRow save() {
        return function.save();
    }

    @Override
    final boolean orderMatters() {
        return function.orderMatters();
    }

    @Override
    final Object value() {
        return function.value();
    }

    @Override
    void clear() {
        function.clear();
    }

    @Override
    void flush() {
        function.flush();
    }
}

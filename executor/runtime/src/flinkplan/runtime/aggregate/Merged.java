package flinkplan.runtime.aggregate;

import flinkplan.runtime.States;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** An aggregate function over rows that {@link PreAggregate} has folded: it takes in what it saved itself. */
final class Merged extends Accumulator {
    private final Accumulator function;
    private final int column;

    Merged(Accumulator function, int column) {
        this.function = function;
        this.column = column;
    }

    @Override
    StructType schema() {
        return function.schema();
    }

    @Override
    void open(States states, String name, long ttl) {
        function.open(states, name, ttl);
    }

    @Override
    void begin() {
        function.begin();
    }

    @Override
    void reset() {
        function.reset();
    }

    @Override
    void load(InternalRow saved) {
        function.load(saved);
    }

    @Override
    InternalRow save() {
        return function.save();
    }

    @Override
    void add(InternalRow row) {
        function.merge(row.getStruct(column, schema().length()));
    }

    @Override
    Object value() {
        return function.value();
    }
}

package flinkplan.runtime.aggregate;

import flinkplan.runtime.States;
import flinkplan.runtime.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/** An aggregate function that sees each combination of its arguments once. */
public final class Distinct extends Accumulator {
    private final Accumulator function;
    private final StructType input;
    private final int[] columns;
    private transient Multiset seen;
    private transient UnsafeProjection arguments;

    public Distinct(Accumulator function, StructType input, int[] columns) {
        this.function = function;
        this.input = input;
        this.columns = columns;
    }

    @Override
    StructType schema() {
        return function.schema();
    }

    @Override
    void open(States states, String name, long ttl) {
        seen = new Multiset(states, name + "-distinct", Rows.select(input, columns), ttl);
        arguments = Rows.projection(input, columns);
        function.open(states, name, ttl);
    }

    @Override
    void begin() {
        seen.begin();
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
        if (seen.add(arguments.apply(row), 1) == 1) {
            function.add(row);
        }
    }

    @Override
    void retract(InternalRow row) {
        if (seen.add(arguments.apply(row), -1) == 0) {
            function.retract(row);
        }
    }

    @Override
    boolean orderMatters() {
        return function.orderMatters();
    }

    @Override
    Object value() {
        return function.value();
    }

    @Override
    void clear() {
        seen.clear();
        function.clear();
    }

    @Override
    void flush() {
        seen.flush();
        function.flush();
    }
}

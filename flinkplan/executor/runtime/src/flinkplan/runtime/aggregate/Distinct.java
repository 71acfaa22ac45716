package flinkplan.runtime.aggregate;

import flinkplan.runtime.Rows;
import flinkplan.runtime.States;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/** An aggregate function that sees each combination of its arguments once. */
public final class Distinct extends Delegating {
    private final StructType input;
    private final int[] columns;
    private transient Multiset seen;
    private transient UnsafeProjection arguments;

    public Distinct(Accumulator function, StructType input, int[] columns) {
        super(function);
        this.input = input;
        this.columns = columns;
    }

    @Override
    boolean isSelfContained() {
        return false;
    }

    @Override
    void open(States states, String name, long ttl) {
        seen = new Multiset(states, name + "-distinct", Rows.select(input, columns), ttl);
        arguments = Rows.projection(input, columns);
        super.open(states, name, ttl);
    }

    @Override
    void begin() {
        seen.begin();
        super.begin();
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
    void clear() {
        seen.clear();
        super.clear();
    }

    @Override
    void flush() {
        seen.flush();
        super.flush();
    }
}

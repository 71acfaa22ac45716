package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/** An aggregate function that sees each combination of its arguments once. */
public final class Distinct extends Delegating {
    private final StructType input;
    private final int[] columns;
    private final boolean retracts;
    private transient Multiset seen;
    private transient UnsafeProjection arguments;

    /** @param retracts whether rows may be taken back, for which they are counted; if not, each is noted once */
    public Distinct(Accumulator function, StructType input, int[] columns, boolean retracts) {
        super(function);
        this.input = input;
        this.columns = columns;
        this.retracts = retracts;
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
    void begin(boolean isNew) {
        seen.begin(isNew);
        super.begin(isNew);
    }

    @Override
    void add(InternalRow row) {
        InternalRow given = arguments.apply(row);
        if (retracts ? seen.add(given, 1) == 1 : seen.note(given)) {
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

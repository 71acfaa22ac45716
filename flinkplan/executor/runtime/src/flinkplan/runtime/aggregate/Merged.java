package flinkplan.runtime.aggregate;

import org.apache.spark.sql.catalyst.InternalRow;

/** An aggregate function over rows that {@link PreAggregate} has folded: it takes in what it saved itself. */
final class Merged extends Delegating {
    private final int column;

    Merged(Accumulator function, int column) {
        super(function);
        this.column = column;
    }

    @Override
    void add(InternalRow row) {
        function.merge(row.getStruct(column, width()));
    }
}

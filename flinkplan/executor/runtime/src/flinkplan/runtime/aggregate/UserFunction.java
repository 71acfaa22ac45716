package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import flinkplan.runtime.udf.AggregateCall;
import flinkplan.runtime.udf.Description;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** An aggregate function of a user in Java; its accumulator is saved as Flink's serializer of its type writes it. */
public final class UserFunction extends Accumulator {
    private final Description description;
    private final int[] columns;
    private final DataType[] types;
    private final boolean canMerge;
    private transient AggregateCall call;

    /**
     * @param columns the columns of its arguments
     * @param types their types
     * @param canMerge whether the function has a method for that
     */
    public UserFunction(Description description, int[] columns, DataType[] types, boolean canMerge) {
        this.description = description;
        this.columns = columns;
        this.types = types;
        this.canMerge = canMerge;
    }

    private AggregateCall call() {
        if (call == null) {
            call = description.openAggregate();
        }
        return call;
    }

    @Override
    StructType schema() {
        return new StructType().add("accumulator", DataTypes.BinaryType);
    }

    @Override
    void reset() {
        call().reset();
    }

    @Override
    void load(InternalRow saved) {
        call().load(saved.getBinary(0));
    }

    @Override
    InternalRow save() {
        return Rows.of((Object) call().save());
    }

    @Override
    void add(InternalRow row) {
        call().accumulate(arguments(row));
    }

    @Override
    void retract(InternalRow row) {
        call().retract(arguments(row));
    }

    private Object[] arguments(InternalRow row) {
        Object[] arguments = new Object[columns.length];
        for (int i = 0; i < columns.length; i++) {
            arguments[i] = row.isNullAt(columns[i]) ? null : row.get(columns[i], types[i]);
        }
        return arguments;
    }

    @Override
    void merge(InternalRow saved) {
        call().merge(saved.getBinary(0));
    }

    @Override
    boolean mergesInOrder() {
        return canMerge;
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        return call().value();
    }
}

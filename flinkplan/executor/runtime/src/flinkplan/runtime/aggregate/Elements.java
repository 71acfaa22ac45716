package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Functions of all of a column's values in the order they came. Taking a value back removes its first occurrence. */
public final class Elements extends Accumulator {
    /** What is made of the values. */
    public enum Result {
        FIRST,
        LAST,
        SINGLE,
        ARRAY,
        MULTISET
    }

    private final int column;
    private final DataType type;
    private final Result result;
    private final boolean ignoreNulls;
    private transient List<Object> values;

    public Elements(int column, DataType type, String result, boolean ignoreNulls) {
        this.column = column;
        this.type = type;
        this.result = Result.valueOf(result);
        this.ignoreNulls = ignoreNulls;
    }

    @Override
    StructType schema() {
        return new StructType().add("values", DataTypes.createArrayType(type, true));
    }

    @Override
    void reset() {
        values = new ArrayList<>();
    }

    @Override
    void load(InternalRow saved) {
        reset();
        merge(saved);
    }

    @Override
    InternalRow save() {
        return Rows.of(new GenericArrayData(values.toArray()));
    }

    private Object read(InternalRow row) {
        return row.isNullAt(column) ? null : row.get(column, type);
    }

    @Override
    void add(InternalRow row) {
        Object value = read(row);
        if (value != null || !ignoreNulls) {
            values.add(value);
            if (result == Result.SINGLE && values.size() > 1) {
                throw new IllegalStateException("a scalar subquery returned more than one row");
            }
        }
    }

    @Override
    void retract(InternalRow row) {
        Object value = read(row);
        if (value != null || !ignoreNulls) {
            values.remove(value);
        }
    }

    @Override
    void merge(InternalRow saved) {
        values.addAll(Arrays.asList(saved.getArray(0).toObjectArray(type)));
    }

    @Override
    boolean mergesInOrder() {
        return true;
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        return switch (result) {
            case FIRST, SINGLE -> values.isEmpty() ? null : values.get(0);
            case LAST -> values.isEmpty() ? null : values.get(values.size() - 1);
            case ARRAY -> values.isEmpty() ? null : new GenericArrayData(values.toArray());
            case MULTISET -> counts();
        };
    }

    private Object counts() {
        Map<Object, Integer> counts = new LinkedHashMap<>();
        for (Object value : values) {
            counts.merge(value, 1, Integer::sum);
        }
        return new ArrayBasedMapData(
                new GenericArrayData(counts.keySet().toArray()), new GenericArrayData(counts.values().toArray()));
    }
}

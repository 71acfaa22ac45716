package flinkplan.runtime.aggregate;

import flinkplan.runtime.Rows;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * An aggregate function whose result goes by the order of rows, over a window that is made of slices: as in Flink, the
 * rows of each slice come to a value first, in the order they came, and these are merged slice by slice.
 */
public final class Sliced extends Accumulator {
    private final Accumulator function;
    private final int column;
    private transient TreeMap<Long, InternalRow> slices;
    private transient Long current;

    /**
     * A function over slices, where the order of rows matters to it, else the function itself.
     *
     * @param column the BIGINT column by which slices stand in order
     */
    public static Accumulator of(Accumulator function, int column) {
        return function.orderMatters() ? new Sliced(function, column) : function;
    }

    private Sliced(Accumulator function, int column) {
        this.function = function;
        this.column = column;
    }

    @Override
    StructType schema() {
        StructType slice = new StructType()
                .add("slice", DataTypes.LongType, false)
                .add("values", function.schema(), false);
        return new StructType().add("slices", DataTypes.createArrayType(slice, false));
    }

    @Override
    void reset() {
        slices = new TreeMap<>();
        current = null;
    }

    @Override
    void load(InternalRow saved) {
        reset();
        ArrayData array = saved.getArray(0);
        for (int i = 0; i < array.numElements(); i++) {
            InternalRow slice = array.getStruct(i, 2);
            slices.put(slice.getLong(0), slice.getStruct(1, function.schema().length()));
        }
    }

    @Override
    InternalRow save() {
        turnTo(null);
        Object[] saved = slices.entrySet().stream()
                .map(slice -> Rows.of(slice.getKey(), slice.getValue()))
                .toArray();
        return Rows.of(new GenericArrayData(saved));
    }

    /** Makes the function stand on another slice; null: on none. */
    private void turnTo(Long slice) {
        if (current != null) {
            slices.put(current, function.save());
        }
        current = slice;
        InternalRow saved = slice == null ? null : slices.get(slice);
        if (saved == null) {
            function.reset();
        } else {
            function.load(saved);
        }
    }

    private Accumulator sliceOf(InternalRow row) {
        Long slice = row.getLong(column);
        if (!slice.equals(current)) {
            turnTo(slice);
        }
        return function;
    }

    @Override
    void add(InternalRow row) {
        sliceOf(row).add(row);
    }

    @Override
    void retract(InternalRow row) {
        sliceOf(row).retract(row);
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        turnTo(null);
        slices.values().forEach(function::merge);
        return function.value();
    }
}

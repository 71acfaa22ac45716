package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** LAG: the value some rows before the last one, or a default where there is none. */
public final class Lag extends Accumulator {
    private final int column;
    private final DataType type;
    private final int offsetColumn;
    private final int defaultColumn;

    private transient Deque<Object[]> values;
    private transient int offset;
    private transient Object fallback;

    /** {@code offsetColumn} (an INT) and {@code defaultColumn} are -1 where they are not given: 1 and NULL. */
    public Lag(int column, DataType type, int offsetColumn, int defaultColumn) {
        this.column = column;
        this.type = type;
        this.offsetColumn = offsetColumn;
        this.defaultColumn = defaultColumn;
    }

    @Override
    StructType schema() {
        return new StructType()
                .add("values", DataTypes.createArrayType(type))
                .add("offset", DataTypes.IntegerType)
                .add("default", type);
    }

    @Override
    void reset() {
        values = new ArrayDeque<>();
        offset = 1;
        fallback = null;
    }

    @Override
    void load(InternalRow saved) {
        reset();
        Arrays.stream(saved.getArray(0).toObjectArray(type)).forEach(value -> values.add(new Object[] {value}));
        offset = saved.getInt(1);
        fallback = saved.get(2, type);
    }

    @Override
    InternalRow save() {
        return Rows.of(new GenericArrayData(values.stream().map(value -> value[0]).toArray()), offset, fallback);
    }

    @Override
    void add(InternalRow row) {
        offset = offsetColumn < 0 ? 1 : row.getInt(offsetColumn);
        fallback = defaultColumn < 0 ? null : row.get(defaultColumn, type);
        values.add(new Object[] {row.get(column, type)});
        while (values.size() > offset + 1) {
            values.remove();
        }
    }

    @Override
    Object value() {
        return values.size() <= offset ? fallback : values.getFirst()[0];
    }
}

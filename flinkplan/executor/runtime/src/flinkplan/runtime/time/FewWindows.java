package flinkplan.runtime.time;

import flinkplan.runtime.catalyst.InterpretedExpression;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The array of windows that {@link WindowAggregate} keeps in one value, read for people to see. */
public final class FewWindows extends InterpretedExpression {
    private final Expression packed;
    private final StructType bounds;
    private final StructType window;

    private FewWindows(Expression packed, StructType bounds, StructType window) {
        super(List.of(packed), bounds, window);
        this.packed = packed;
        this.bounds = bounds;
        this.window = window;
    }

    /**
     * The windows of a column of such values, each as an entry of the map that holds many.
     *
     * @param bounds the schema of the map's keys
     * @param window the schema of its values
     */
    public static Column unpacked(Column packed, StructType bounds, StructType window) {
        return ExpressionUtils.column(new FewWindows(ExpressionUtils.expression(packed), bounds, window));
    }

    /** What the bytes of such a value hold: when the key is due, and its windows. */
    static UnsafeRow read(byte[] bytes) {
        UnsafeRow value = new UnsafeRow(2);
        value.pointTo(bytes, bytes.length);
        return value;
    }

    /** The windows in that. */
    static ArrayData windows(UnsafeRow value) {
        return value.getArray(1);
    }

    @Override
    public Object eval(InternalRow input) {
        return windows(read((byte[]) packed.eval(input)));
    }

    @Override
    public DataType dataType() {
        return DataTypes.createArrayType(bounds.add("window", window, false), false);
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new FewWindows(children.get(0), bounds, window);
    }
}

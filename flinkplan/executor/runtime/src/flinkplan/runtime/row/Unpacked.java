package flinkplan.runtime.row;

import flinkplan.runtime.catalyst.InterpretedExpression;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;

/** The expression whose value is that in the bytes of a {@link Packed} one. */
public final class Unpacked extends InterpretedExpression {
    private final Expression child;
    private final DataType type;

    private Unpacked(Expression child, DataType type) {
        super(List.of(child), type);
        this.child = child;
        this.type = type;
    }

    /** The value of this type that was packed into a column. */
    public static Column column(Column packed, DataType type) {
        return ExpressionUtils.column(new Unpacked(ExpressionUtils.expression(packed), type));
    }

    @Override
    public Object eval(InternalRow input) {
        Object bytes = child.eval(input);
        return bytes == null ? null : Packed.unpack((byte[]) bytes, type);
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new Unpacked(children.get(0), type);
    }
}

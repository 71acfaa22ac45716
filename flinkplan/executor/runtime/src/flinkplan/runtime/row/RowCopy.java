package flinkplan.runtime.row;

import flinkplan.runtime.catalyst.InterpretedExpression;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;

/** The expression whose value is a copy of the whole input row, safe to keep; what was packed is unpacked. */
final class RowCopy extends InterpretedExpression {
    private final StructType schema;
    private final BitSet packed;
    private transient UnsafeProjection projection;

    /**
     * @param schema the schema of the copy
     * @param packed which of the input's columns are {@link Packed}
     */
    RowCopy(StructType schema, BitSet packed) {
        super(List.of(), schema, packed);
        this.schema = schema;
        this.packed = packed;
    }

    StructType schema() {
        return schema;
    }

    boolean packs() {
        return !packed.isEmpty();
    }

    @Override
    public Object eval(InternalRow input) {
        return packed.isEmpty() ? input.copy() : unpacked(input);
    }

    private InternalRow unpacked(InternalRow input) {
        if (projection == null) {
            projection = UnsafeProjection.create(schema);
        }
        Object[] values = new Object[schema.length()];
        for (int i = 0; i < values.length; i++) {
            if (!input.isNullAt(i)) {
                DataType type = schema.apply(i).dataType();
                values[i] = packed.get(i) ? Packed.unpack(input.getBinary(i), type) : input.get(i, type);
            }
        }
        return projection.apply(Rows.of(values)).copy();
    }

    @Override
    public DataType dataType() {
        return new ObjectType(InternalRow.class);
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    protected Expression over(List<Expression> children) {
        return this;
    }
}

package flinkplan.runtime.row;

import flinkplan.runtime.catalyst.InterpretedExpression;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;

/**
 * The expression whose value is another's as the bytes of a binary row.
 *
 * <p>So a state holds what its Avro encoding cannot: arrays with NULLs in them, maps, TINYINT and SMALLINT, and rows in
 * which a name comes twice.
 */
public final class Packed extends InterpretedExpression {
    private final Expression child;
    private transient UnsafeProjection projection;

    public Packed(Expression child) {
        super(List.of(child));
        this.child = child;
    }

    /** Whether Spark's Avro encoding of states has a place for all values of a type. */
    public static boolean isNeeded(DataType type) {
        if (type instanceof StructType struct) {
            return List.of(struct.fields()).stream().map(StructField::dataType).anyMatch(Packed::isNeeded);
        }
        if (type instanceof ArrayType array) {
            boolean holdsNulls = array.containsNull() && !(array.elementType() instanceof StructType);
            return holdsNulls || isNeeded(array.elementType());
        }
        boolean tooSmall = type instanceof ByteType || type instanceof ShortType;
        return tooSmall || type instanceof MapType || type instanceof VariantType || !(type instanceof AtomicType);
    }

    /**
     * Whether that encoding would give two records one name, or one the name of a record around the column: it calls a
     * struct as the field that it is in. The names met are added to {@code names}.
     */
    static boolean isAmbiguous(String name, DataType type, Set<String> names) {
        if (type instanceof ArrayType array) {
            return isAmbiguous(name, array.elementType(), names);
        }
        boolean ambiguous = false;
        if (type instanceof StructType struct) {
            ambiguous = !names.add(name);
            for (StructField field : struct.fields()) {
                ambiguous |= isAmbiguous(field.name(), field.dataType(), names);
            }
        }
        return ambiguous;
    }

    /** The value in packed bytes. */
    static Object unpack(byte[] bytes, DataType type) {
        UnsafeRow row = new UnsafeRow(1);
        row.pointTo(bytes, bytes.length);
        return row.get(0, type);
    }

    @Override
    public Object eval(InternalRow input) {
        Object value = child.eval(input);
        if (value == null) {
            return null;
        }
        if (projection == null) {
            projection = UnsafeProjection.create(new StructType().add("value", child.dataType()));
        }
        return projection.apply(Rows.of(value)).getBytes();
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new Packed(children.get(0));
    }
}

package flinkplan.runtime;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
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
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The expression whose value is another's as the bytes of a binary row.
 *
 * <p>So a state holds what its Avro encoding cannot: arrays with NULLs in them, maps, and TINYINT and SMALLINT.
 */
final class Packed extends Expression implements CodegenFallback, Serializable {
    private final Expression child;
    private transient UnsafeProjection projection;

    Packed(Expression child) {
        this.child = child;
    }

    /** Whether Spark's Avro encoding of states has a place for all values of a type. */
    static boolean isNeeded(DataType type) {
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
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }

    @Override
    public Seq<Expression> children() {
        return CollectionConverters.asScala(List.of(child)).toSeq();
    }

    @Override
    public Expression mapChildren(Function1<Expression, Expression> function) {
        return new Packed(function.apply(child));
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return new Packed(children.head());
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int index) {
        return child;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof Packed;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Packed packed && packed.child.equals(child);
    }

    @Override
    public int hashCode() {
        return child.hashCode();
    }
}

package flinkplan.runtime;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The expression whose value is a copy of the whole input row, safe to keep; what was packed is unpacked. */
final class RowCopy extends Expression implements CodegenFallback, Serializable {
    private final StructType schema;
    private final boolean[] packed;
    private final boolean plain;
    private transient UnsafeProjection projection;

    /**
     * @param schema the schema of the copy
     * @param packed which of the input's columns are {@link Packed}
     */
    RowCopy(StructType schema, boolean[] packed) {
        this.schema = schema;
        this.packed = packed;
        this.plain = IntStream.range(0, packed.length).noneMatch(i -> packed[i]);
    }

    @Override
    public Object eval(InternalRow input) {
        return plain ? input.copy() : unpacked(input);
    }

    private InternalRow unpacked(InternalRow input) {
        if (projection == null) {
            projection = UnsafeProjection.create(schema);
        }
        Object[] values = new Object[packed.length];
        for (int i = 0; i < packed.length; i++) {
            if (!input.isNullAt(i)) {
                DataType type = schema.apply(i).dataType();
                values[i] = packed[i] ? Packed.unpack(input.getBinary(i), type) : input.get(i, type);
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
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }

    @Override
    public Seq<Expression> children() {
        return CollectionConverters.asScala(List.<Expression>of()).toSeq();
    }

    @Override
    public Expression mapChildren(Function1<Expression, Expression> function) {
        return this;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return this;
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int index) {
        return schema;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RowCopy;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RowCopy copy && copy.schema.equals(schema) && Arrays.equals(copy.packed, packed);
    }

    @Override
    public int hashCode() {
        return schema.hashCode();
    }
}

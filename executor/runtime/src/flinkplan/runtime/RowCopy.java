package flinkplan.runtime;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The expression whose value is a copy of the whole input row, safe to keep. */
final class RowCopy extends Expression implements CodegenFallback, Serializable {
    @Override
    public Object eval(InternalRow input) {
        return input.copy();
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
        return 0;
    }

    @Override
    public Object productElement(int index) {
        throw new IndexOutOfBoundsException(index);
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RowCopy;
    }

    @Override
    public boolean equals(Object other) {
        return canEqual(other);
    }

    @Override
    public int hashCode() {
        return RowCopy.class.hashCode();
    }
}

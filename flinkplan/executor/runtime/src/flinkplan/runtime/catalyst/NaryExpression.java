package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** An expression of ours among Spark's, over any number of others. */
public abstract class NaryExpression extends Expression implements Serializable {
    private final List<Expression> children;
    private final List<Object> others;

    /**
     * @param children the expressions that this one reads
     * @param others what else tells it from others of its class
     */
    protected NaryExpression(List<Expression> children, Object... others) {
        this.children = List.copyOf(children);
        this.others = List.of(others);
    }

    /** The same expression over other children. */
    protected abstract Expression over(List<Expression> children);

    @Override
    public final Seq<Expression> children() {
        return asScala(children);
    }

    @Override
    public final Expression mapChildren(Function1<Expression, Expression> function) {
        return over(children.stream().map(function::apply).toList());
    }

    @Override
    public final Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return over(CollectionConverters.asJava(children));
    }

    @Override
    public final int productArity() {
        return 1 + others.size();
    }

    @Override
    public final Object productElement(int index) {
        return index == 0 ? children() : others.get(index - 1);
    }

    @Override
    public final boolean canEqual(Object other) {
        return getClass().isInstance(other);
    }

    @Override
    public final boolean equals(Object other) {
        return canEqual(other)
                && other instanceof NaryExpression that
                && that.children.equals(children)
                && that.others.equals(others);
    }

    @Override
    public final int hashCode() {
        return 31 * children.hashCode() + others.hashCode();
    }
}

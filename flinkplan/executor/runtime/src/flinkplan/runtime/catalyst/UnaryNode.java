package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * A node with the rows of the one plan below it, and with a value of its own.
 *
 * <p>Subclasses need a public constructor with the value and the plan, by which Spark copies nodes.
 */
public abstract class UnaryNode<V> extends LogicalPlan {
    private final V value;
    private final LogicalPlan child;

    protected UnaryNode(V value, LogicalPlan child) {
        this.value = value;
        this.child = child;
    }

    /** The same node over another plan. */
    protected abstract LogicalPlan over(LogicalPlan other);

    /** What belongs to the node. */
    public final V value() {
        return value;
    }

    /** The plan below. */
    public final LogicalPlan child() {
        return child;
    }

    @Override
    public final Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public final Seq<LogicalPlan> children() {
        return asScala(List.of(child));
    }

    @Override
    public final LogicalPlan mapChildren(Function1<LogicalPlan, LogicalPlan> function) {
        return changed(function.apply(child));
    }

    @Override
    public final LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
        return changed(children.head());
    }

    private LogicalPlan changed(LogicalPlan other) {
        return other == child ? this : over(other);
    }

    @Override
    public final int productArity() {
        return 2;
    }

    @Override
    public final Object productElement(int index) {
        return index == 0 ? value : child;
    }

    @Override
    public final boolean canEqual(Object other) {
        return getClass().isInstance(other);
    }

    @Override
    public final boolean equals(Object other) {
        return canEqual(other)
                && other instanceof UnaryNode<?> that
                && that.value.equals(value)
                && that.child.equals(child);
    }

    @Override
    public final int hashCode() {
        return value.hashCode();
    }
}

package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * A physical node with the rows of the one plan below it, as they are distributed there, and with a value of its own.
 *
 * <p>Subclasses hold both, since nodes are sent to tasks and each says what of it goes along. They need a public
 * constructor with the value and the plan, by which Spark copies nodes.
 */
public abstract class UnaryExec<V> extends SparkPlan {
    /** What belongs to the node. */
    protected abstract V value();

    /** The plan below; null in a task that it is not sent to. */
    protected abstract SparkPlan child();

    /** The same node over another plan. */
    protected abstract SparkPlan over(SparkPlan other);

    @Override
    public final Partitioning outputPartitioning() {
        return child().outputPartitioning();
    }

    @Override
    public final Seq<SparkPlan> children() {
        return child() == null ? asScala(List.of()) : asScala(List.of(child()));
    }

    @Override
    public final SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> function) {
        return changed(function.apply(child()));
    }

    @Override
    public final SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return changed(children.head());
    }

    private SparkPlan changed(SparkPlan other) {
        return other == child() ? this : over(other);
    }

    @Override
    public final int productArity() {
        return 2;
    }

    @Override
    public final Object productElement(int index) {
        return index == 0 ? value() : child();
    }

    @Override
    public final boolean canEqual(Object other) {
        return getClass().isInstance(other);
    }

    @Override
    public final boolean equals(Object other) {
        return canEqual(other)
                && other instanceof UnaryExec<?> that
                && that.value().equals(value())
                && that.child().equals(child());
    }

    @Override
    public final int hashCode() {
        return value().hashCode();
    }
}

package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A plan that is optimized: a leaf, so that Spark's optimizer does not go through it again. */
public final class OptimizedPlan extends LogicalPlan {
    private final LogicalPlan plan;

    /** Public, as Spark copies nodes by their constructors. */
    public OptimizedPlan(LogicalPlan plan) {
        this.plan = plan;
    }

    LogicalPlan plan() {
        return plan;
    }

    @Override
    public Seq<Attribute> output() {
        return plan.output();
    }

    @Override
    public boolean isStreaming() {
        return plan.isStreaming();
    }

    @Override
    public Seq<LogicalPlan> children() {
        return asScala(List.of());
    }

    @Override
    public LogicalPlan mapChildren(Function1<LogicalPlan, LogicalPlan> function) {
        return this;
    }

    @Override
    public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
        return this;
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int index) {
        return plan;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof OptimizedPlan;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OptimizedPlan that && that.plan.equals(plan);
    }

    @Override
    public int hashCode() {
        return plan.hashCode();
    }
}

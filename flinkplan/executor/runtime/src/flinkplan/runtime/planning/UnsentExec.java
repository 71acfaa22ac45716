package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * The rows of a plan that tasks do not get to see.
 *
 * <p>Operators with state and sorts send themselves to their tasks, and with them all operators that they read, of which a
 * task needs nothing but the columns.
 */
public final class UnsentExec extends SparkPlan {
    private final transient SparkPlan child;
    private final Seq<Attribute> output;

    /** Public, as Spark copies nodes by their constructors. */
    public UnsentExec(SparkPlan child, Seq<Attribute> output) {
        this.child = child;
        this.output = output;
    }

    @Override
    public Seq<Attribute> output() {
        return output;
    }

    @Override
    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    @Override
    public Seq<SortOrder> outputOrdering() {
        return child.outputOrdering();
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return child.execute();
    }

    @Override
    public Seq<SparkPlan> children() {
        return child == null ? asScala(List.of()) : asScala(List.of(child));
    }

    @Override
    public SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> function) {
        return over(function.apply(child));
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return over(children.head());
    }

    private UnsentExec over(SparkPlan other) {
        return other == child ? this : new UnsentExec(other, other.output());
    }

    @Override
    public SparkPlan doCanonicalize() {
        return child.canonicalized();
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? child : output;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof UnsentExec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof UnsentExec that && that.child.equals(child);
    }

    @Override
    public int hashCode() {
        return child.hashCode();
    }
}

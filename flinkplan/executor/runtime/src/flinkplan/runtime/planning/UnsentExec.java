package flinkplan.runtime.planning;

import flinkplan.runtime.catalyst.UnaryExec;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Seq;

/**
 * The rows of a plan that tasks do not get to see.
 *
 * <p>Operators with state and sorts send themselves to their tasks, and with them all operators that they read, of which a
 * task needs nothing but the columns.
 */
public final class UnsentExec extends UnaryExec<Seq<Attribute>> {
    private final Seq<Attribute> output;
    private final transient SparkPlan child;

    /** Public, as Spark copies nodes by their constructors. */
    public UnsentExec(Seq<Attribute> output, SparkPlan child) {
        this.output = output;
        this.child = child;
    }

    @Override
    protected Seq<Attribute> value() {
        return output;
    }

    @Override
    protected SparkPlan child() {
        return child;
    }

    @Override
    protected UnsentExec over(SparkPlan other) {
        return new UnsentExec(other.output(), other);
    }

    @Override
    public Seq<Attribute> output() {
        return output;
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
    public SparkPlan doCanonicalize() {
        return child.canonicalized();
    }
}

package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.classic.Dataset$;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** The rows of each partition of a micro-batch in an order; Spark sorts streams no other way than as a whole. */
public final class SortedRows extends LogicalPlan {
    private final Seq<SortOrder> order;
    private final LogicalPlan child;

    /** Public, as Spark copies nodes by their constructors. */
    public SortedRows(Seq<SortOrder> order, LogicalPlan child) {
        this.order = order;
        this.child = child;
    }

    /** The same rows as those of a stream whose partitions are to be sorted, in a query that Spark starts. */
    public static Dataset<Row> of(Dataset<Row> sorted) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) sorted;
        Sort sort = (Sort) dataset.queryExecution().analyzed();
        PlannedOnce.extend(dataset.sparkSession());
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), new SortedRows(sort.order(), sort.child()));
    }

    Seq<SortOrder> order() {
        return order;
    }

    LogicalPlan child() {
        return child;
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public Seq<LogicalPlan> children() {
        return asScala(List.of(child));
    }

    @Override
    public LogicalPlan mapChildren(Function1<LogicalPlan, LogicalPlan> function) {
        return over(function.apply(child));
    }

    @Override
    public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
        return over(children.head());
    }

    private SortedRows over(LogicalPlan other) {
        return other == child ? this : new SortedRows(order, other);
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? order : child;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof SortedRows;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SortedRows that && that.order.equals(order) && that.child.equals(child);
    }

    @Override
    public int hashCode() {
        return order.hashCode();
    }
}

package flinkplan.runtime.planning;

import flinkplan.runtime.catalyst.UnaryNode;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.classic.Dataset$;
import scala.collection.immutable.Seq;

/** The rows of each partition of a micro-batch in an order; Spark sorts streams no other way than as a whole. */
public final class SortedRows extends UnaryNode<Seq<SortOrder>> {
    public SortedRows(Seq<SortOrder> order, LogicalPlan child) {
        super(order, child);
    }

    /** The same rows as those of a stream whose partitions are to be sorted, in a query that Spark starts. */
    public static Dataset<Row> of(Dataset<Row> sorted) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) sorted;
        Sort sort = (Sort) dataset.queryExecution().analyzed();
        PlannedOnce.extend(dataset.sparkSession());
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), new SortedRows(sort.order(), sort.child()));
    }

    @Override
    protected SortedRows over(LogicalPlan other) {
        return new SortedRows(value(), other);
    }
}

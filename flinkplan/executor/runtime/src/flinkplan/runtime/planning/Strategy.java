package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;

/** How Spark runs the nodes of this package; a {@link StreamedQuery} that nothing writes as what is below it. */
final class Strategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        if (plan instanceof OptimizedPlan optimized) {
            return asScala(List.of(planLater(optimized.plan())));
        }
        if (plan instanceof SortedRows sorted) {
            return asScala(List.of(new SortExec(sorted.value(), false, planLater(sorted.child()), 0)));
        }
        return plan instanceof StreamedQuery query ? asScala(List.of(planLater(query.child()))) : asScala(List.of());
    }
}

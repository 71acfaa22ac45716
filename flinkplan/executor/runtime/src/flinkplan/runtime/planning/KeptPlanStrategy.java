package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;

/** How Spark runs an {@link OptimizedPlan}, and a {@link StreamedQuery} that nothing writes: as what is in it. */
final class KeptPlanStrategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        if (plan instanceof OptimizedPlan optimized) {
            return asScala(List.of(planLater(optimized.plan())));
        }
        return plan instanceof StreamedQuery query ? asScala(List.of(planLater(query.child()))) : asScala(List.of());
    }
}

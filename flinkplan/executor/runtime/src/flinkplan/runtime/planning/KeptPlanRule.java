package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import scala.runtime.AbstractFunction0;

/** Optimizes a {@link StreamedQuery} below the node that writes it, as far as that has not been done. */
final class KeptPlanRule extends Rule<LogicalPlan> {
    private final SparkSession session;

    KeptPlanRule(SparkSession session) {
        this.session = session;
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        if (plan.children().size() != 1 || !(plan.children().head() instanceof StreamedQuery query)) {
            return plan;
        }
        LogicalPlan optimized = session.withActive(new AbstractFunction0<>() {
            @Override
            public LogicalPlan apply() {
                return query.value().optimized(query.child(), session);
            }
        });
        return plan.withNewChildren(asScala(List.of(new OptimizedPlan(optimized))));
    }
}

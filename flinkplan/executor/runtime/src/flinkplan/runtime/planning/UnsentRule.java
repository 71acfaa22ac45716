package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import scala.jdk.javaapi.CollectionConverters;

/** Has tasks of a micro-batch not get to see what is behind a shuffle. Real-time mode refuses nodes that it does not know. */
final class UnsentRule extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        boolean isRealTime = CollectionConverters.asJava(plan.collectLeaves()).stream()
                .anyMatch(RealTimeStreamScanExec.class::isInstance);
        return isRealTime ? plan : cut(plan);
    }

    private static SparkPlan cut(SparkPlan plan) {
        var children = CollectionConverters.asJava(plan.children()).stream()
                .map(UnsentRule::cut)
                .toList();
        SparkPlan same = plan.withNewChildren(asScala(children));
        return same instanceof ShuffleExchangeLike ? new UnsentExec(same, same.output()) : same;
    }
}

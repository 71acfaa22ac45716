package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Has tasks of a micro-batch not get to see what is behind a shuffle.
 *
 * <p>Other plans stay as they are: real-time mode refuses nodes that it does not know, and adaptive execution a shuffle that
 * has become something else.
 */
final class UnsentRule extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        boolean isMicroBatch = CollectionConverters.asJava(plan.collectLeaves()).stream()
                .anyMatch(MicroBatchScanExec.class::isInstance);
        return isMicroBatch ? below(plan, UnsentRule::cut) : plan;
    }

    private static SparkPlan cut(SparkPlan plan) {
        SparkPlan same = below(plan, UnsentRule::cut);
        return same instanceof ShuffleExchangeLike ? new UnsentExec(same.output(), same) : same;
    }

    private static SparkPlan below(SparkPlan plan, UnaryOperator<SparkPlan> change) {
        return plan.withNewChildren(asScala(CollectionConverters.asJava(plan.children()).stream()
                .map(change)
                .toList()));
    }
}

package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import org.apache.spark.sql.execution.streaming.runtime.RealTimeModeAllowlist;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Has tasks of a micro-batch not get to see what is behind a shuffle.
 *
 * <p>Other plans stay as they are: adaptive execution refuses a shuffle that has become something else. So would real-time
 * mode, which is told not to look, as it is asked here before.
 */
final class UnsentRule extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        boolean isRealTime = reads(plan, RealTimeStreamScanExec.class);
        if (isRealTime) {
            RealTimeModeAllowlist.checkAllowedPhysicalOperator(plan, true);
        }
        return isRealTime || reads(plan, MicroBatchScanExec.class) ? below(plan, UnsentRule::cut) : plan;
    }

    private static boolean reads(SparkPlan plan, Class<?> source) {
        return CollectionConverters.asJava(plan.collectLeaves()).stream().anyMatch(source::isInstance);
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

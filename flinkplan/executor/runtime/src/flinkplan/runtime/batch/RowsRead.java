package flinkplan.runtime.batch;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.spark.sql.execution.DataSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import scala.jdk.javaapi.CollectionConverters;

/** Counts the rows that a plan has read from its sources; what several of its parts share counts once. */
public final class RowsRead {
    private final Set<SparkPlan> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    private RowsRead() {}

    /** The rows that came of the scans of a plan that has been run. */
    public static long of(SparkPlan plan) {
        return new RowsRead().count(plan);
    }

    private long count(SparkPlan plan) {
        if (!seen.add(plan)) {
            return 0;
        }
        if (plan instanceof BatchScanExec || plan instanceof DataSourceScanExec) {
            return plan.longMetric("numOutputRows").value();
        }
        if (plan instanceof AdaptiveSparkPlanExec adaptive) {
            return count(adaptive.executedPlan());
        }
        if (plan instanceof QueryStageExec stage) {
            return count(stage.plan());
        }
        if (plan instanceof ReusedExchangeExec reused) {
            return count(reused.child());
        }
        if (plan instanceof InMemoryTableScanExec cached) {
            return count(cached.relation().cachedPlan());
        }
        return CollectionConverters.asJava(plan.children()).stream()
                .mapToLong(this::count)
                .sum();
    }
}

package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;

/** How Spark runs {@link SharedRows}. */
final class SharedRowsStrategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        List<SparkPlan> planned = plan instanceof SharedRows shared
                ? List.of(new SharedRowsExec(shared.value(), planLater(shared.child())))
                : List.of();
        return asScala(planned);
    }
}

package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Leaves, of several {@link SharedRowsExec} of a plan that have the same rows, the leftmost one, which is run first; the
 * others become its readers.
 */
final class SharedRowsRule extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        return once(plan, new HashSet<>());
    }

    private static SparkPlan once(SparkPlan plan, Set<KeptRows> seen) {
        if (plan instanceof SharedRowsExec shared && !seen.add(shared.value())) {
            return new SharedRowsReadExec(shared.value(), shared.output());
        }
        var children = CollectionConverters.asJava(plan.children()).stream()
                .map(child -> once(child, seen))
                .toList();
        return plan.withNewChildren(asScala(children));
    }
}

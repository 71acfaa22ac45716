package flinkplan.runtime.catalyst;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * Rules of ours over Spark's physical plans that come when operators with state have been numbered.
 *
 * <p>They are no matter of columns: but of all rules that may be added to Spark, those for columns alone come as late.
 */
public final class PhysicalPlanRules {
    private static final Map<SparkSessionExtensions, Set<Class<?>>> ADDED = new WeakHashMap<>();

    private PhysicalPlanRules() {}

    /** Adds a rule to a session and the copies that its queries have of it, unless it has one of the same class. */
    public static synchronized void add(SparkSession session, Rule<SparkPlan> rule) {
        var extensions = session.extensions();
        if (ADDED.computeIfAbsent(extensions, any -> new HashSet<>()).add(rule.getClass())) {
            extensions.injectColumnar(any -> new ColumnarRule() {
                @Override
                public Rule<SparkPlan> preColumnarTransitions() {
                    return rule;
                }
            });
        }
    }
}

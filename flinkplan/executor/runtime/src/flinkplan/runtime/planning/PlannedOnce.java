package flinkplan.runtime.planning;

import flinkplan.runtime.catalyst.PhysicalPlanRules;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;

/**
 * Streaming queries that Spark analyzes and optimizes once, and not in each micro-batch.
 *
 * <p>Both take longer than all else that is done for a micro-batch of few rows, and what comes of them is always the same.
 */
public final class PlannedOnce {
    private static final Set<SparkSessionExtensions> EXTENDED = Collections.newSetFromMap(new WeakHashMap<>());

    private PlannedOnce() {}

    /** The same rows, of which a query is to be started, in a session whose copies know what is kept. */
    public static Dataset<Row> of(Dataset<Row> frame) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        extend(dataset.sparkSession());
        SentSettings.forgetSources(dataset.sparkSession().sparkContext().hadoopConfiguration());
        return Dataset$.MODULE$.ofRows(
                dataset.sparkSession(),
                new StreamedQuery(new KeptPlan(), dataset.queryExecution().analyzed()));
    }

    /** Has the copies of a session know the nodes of this package. */
    static synchronized void extend(SparkSession session) {
        SparkSessionExtensions extensions = session.extensions();
        if (EXTENDED.add(extensions)) {
            extensions.injectPlanNormalizationRule(copy -> new KeptPlanRule((SparkSession) copy));
            extensions.injectPlannerStrategy(copy -> new Strategy());
            PhysicalPlanRules.add(session, new UnsentRule());
        }
    }
}

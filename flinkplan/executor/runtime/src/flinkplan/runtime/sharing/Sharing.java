package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.catalyst.PhysicalPlanRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.PartialFunction;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * What several parts of a streaming query read: computed once a micro-batch.
 *
 * <p>The query's sources, and the numbers of its operators with state, are those of a plan in which each part has a copy
 * of its own, as a checkpoint knows them. All copies but the first are there in name only.
 */
public final class Sharing {
    private final List<KeptRows> all = new ArrayList<>();

    /** @param session whose copies, of which each query has one, are to know what is shared */
    public Sharing(org.apache.spark.sql.SparkSession session) {
        extend((SparkSession) session);
    }

    private static synchronized void extend(SparkSession session) {
        var methods = session.experimental();
        List<SparkStrategy> strategies = new ArrayList<>(CollectionConverters.asJava(methods.extraStrategies()));
        if (strategies.stream().noneMatch(SharedRowsStrategy.class::isInstance)) {
            strategies.add(new SharedRowsStrategy());
            methods.extraStrategies_$eq(asScala(strategies));
        }
        PhysicalPlanRules.add(session, new SharedRowsRule());
    }

    /** The same rows, which all who read this frame share. */
    public Dataset<Row> share(Dataset<Row> frame) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        KeptRows kept = new KeptRows();
        all.add(kept);
        return Dataset$.MODULE$.ofRows(
                dataset.sparkSession(),
                new SharedRows(kept, dataset.queryExecution().analyzed()));
    }

    /** A whole query, where nothing is shared that one part alone reads. */
    public Dataset<Row> settle(Dataset<Row> frame) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        LogicalPlan plan = dataset.queryExecution().analyzed();
        Map<KeptRows, Integer> readers = new HashMap<>();
        count(plan, readers);
        PartialFunction<LogicalPlan, LogicalPlan> strip = new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(LogicalPlan node) {
                return node instanceof SharedRows shared && readers.get(shared.value()) == 1;
            }

            @Override
            public LogicalPlan apply(LogicalPlan node) {
                return ((SharedRows) node).child();
            }
        };
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan.transformUp(strip));
    }

    /** Counts who reads what; what stands below something shared reads once. */
    private static void count(LogicalPlan plan, Map<KeptRows, Integer> readers) {
        if (plan instanceof SharedRows shared && readers.merge(shared.value(), 1, Integer::sum) > 1) {
            return;
        }
        CollectionConverters.asJava(plan.children()).forEach(child -> count(child, readers));
    }

    /** Writes batches by another writer, and releases what was shared. */
    public VoidFunction2<Dataset<Row>, Long> releasing(VoidFunction2<Dataset<Row>, Long> writer) {
        return (rows, batch) -> {
            try {
                writer.call(rows, batch);
            } finally {
                release();
            }
        };
    }

    /** Has the rows of a micro-batch kept no longer. */
    public void release() {
        all.forEach(KeptRows::release);
    }
}

package flinkplan.runtime.state;

import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.immutable.Map;

/** How often rows of states were written and removed, for the progress of the query. */
final class StateCounts {
    private final SQLMetric updated;
    private final SQLMetric removed;

    /** @param metrics those that Spark has given an operator's task, by their names */
    StateCounts(Map<String, SQLMetric> metrics) {
        this.updated = metrics.get("numUpdatedStateRows").getOrElse(() -> null);
        this.removed = metrics.get("numRemovedStateRows").getOrElse(() -> null);
    }

    void update() {
        if (updated != null) {
            updated.add(1);
        }
    }

    void remove() {
        if (removed != null) {
            removed.add(1);
        }
    }
}

package flinkplan.runtime.planning;

import flinkplan.runtime.catalyst.UnaryNode;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * All of a streaming query, which is analyzed once.
 *
 * <p>For each micro-batch Spark puts other relations in the place of the query's sources, of which it makes new nodes up
 * to the root. Those have not been analyzed, as far as Spark knows; they are what has been analyzed when the query began.
 */
public final class StreamedQuery extends UnaryNode<KeptPlan> {
    public StreamedQuery(KeptPlan kept, LogicalPlan child) {
        super(kept, child);
    }

    @Override
    public AttributeSet references() {
        return child().outputSet();
    }

    @Override
    protected StreamedQuery over(LogicalPlan other) {
        StreamedQuery query = new StreamedQuery(value(), other);
        if (analyzed() && other.resolved()) {
            query.setAnalyzed();
        }
        return query;
    }
}

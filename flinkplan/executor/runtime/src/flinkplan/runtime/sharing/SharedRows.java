package flinkplan.runtime.sharing;

import flinkplan.runtime.catalyst.UnaryNode;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * The rows of a plan that several others read.
 *
 * <p>Spark's optimizer moves nothing past a node that it does not know: each of the plans that stand below nodes of the
 * same {@link KeptRows} becomes the same, so that one of them can be run for all.
 */
public final class SharedRows extends UnaryNode<KeptRows> {
    public SharedRows(KeptRows kept, LogicalPlan child) {
        super(kept, child);
    }

    /** All columns: those that one reader does not need another one may. */
    @Override
    public AttributeSet references() {
        return child().outputSet();
    }

    @Override
    protected SharedRows over(LogicalPlan other) {
        return new SharedRows(value(), other);
    }
}

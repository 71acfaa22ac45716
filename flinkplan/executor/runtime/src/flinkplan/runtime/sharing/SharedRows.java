package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * The rows of a plan that several others read.
 *
 * <p>Spark's optimizer moves nothing past a node that it does not know: each of the plans that stand below nodes of the
 * same {@link KeptRows} becomes the same, so that one of them can be run for all.
 */
public final class SharedRows extends LogicalPlan {
    private final KeptRows kept;
    private final LogicalPlan child;

    public SharedRows(KeptRows kept, LogicalPlan child) {
        this.kept = kept;
        this.child = child;
    }

    KeptRows kept() {
        return kept;
    }

    LogicalPlan child() {
        return child;
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    /** All columns: those that one reader does not need another one may. */
    @Override
    public AttributeSet references() {
        return child.outputSet();
    }

    @Override
    public Seq<LogicalPlan> children() {
        return asScala(List.of(child));
    }

    @Override
    public LogicalPlan mapChildren(Function1<LogicalPlan, LogicalPlan> function) {
        return over(function.apply(child));
    }

    @Override
    public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
        return over(children.head());
    }

    private SharedRows over(LogicalPlan other) {
        return other == child ? this : new SharedRows(kept, other);
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? kept : child;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof SharedRows;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SharedRows that && that.kept == kept && that.child.equals(child);
    }

    @Override
    public int hashCode() {
        return kept.hashCode();
    }
}

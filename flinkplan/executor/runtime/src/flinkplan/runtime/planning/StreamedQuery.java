package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * All of a streaming query, which is analyzed once.
 *
 * <p>For each micro-batch Spark puts other relations in the place of the query's sources, of which it makes new nodes up
 * to the root. Those have not been analyzed, as far as Spark knows; they are what has been analyzed when the query began.
 */
public final class StreamedQuery extends LogicalPlan {
    private final KeptPlan kept;
    private final LogicalPlan child;

    /** Public, as Spark copies nodes by their constructors. */
    public StreamedQuery(KeptPlan kept, LogicalPlan child) {
        this.kept = kept;
        this.child = child;
    }

    KeptPlan kept() {
        return kept;
    }

    LogicalPlan child() {
        return child;
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

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

    private StreamedQuery over(LogicalPlan other) {
        if (other == child) {
            return this;
        }
        StreamedQuery query = new StreamedQuery(kept, other);
        if (analyzed() && other.resolved()) {
            query.setAnalyzed();
        }
        return query;
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
        return other instanceof StreamedQuery;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StreamedQuery that && that.kept == kept && that.child.equals(child);
    }

    @Override
    public int hashCode() {
        return kept.hashCode();
    }
}

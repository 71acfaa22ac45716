package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Rows that are kept while a micro-batch lasts, for all who read them. */
public final class SharedRowsExec extends SparkPlan {
    private final transient KeptRows kept;
    private final SparkPlan child;

    public SharedRowsExec(KeptRows kept, SparkPlan child) {
        this.kept = kept;
        this.child = child;
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return kept.keep(child.execute(), child.schema(), !session().sparkContext().isLocal());
    }

    KeptRows kept() {
        return kept;
    }

    @Override
    public Seq<SparkPlan> children() {
        return asScala(List.of(child));
    }

    @Override
    public SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> function) {
        return over(function.apply(child));
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return over(children.head());
    }

    private SharedRowsExec over(SparkPlan other) {
        return other == child ? this : new SharedRowsExec(kept, other);
    }

    @Override
    public SparkPlan doCanonicalize() {
        return new SharedRowsExec(kept, child.canonicalized());
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
        return other instanceof SharedRowsExec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SharedRowsExec that && that.kept == kept && that.child.equals(child);
    }

    @Override
    public int hashCode() {
        return kept.hashCode();
    }
}

package flinkplan.runtime.sharing;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** The rows that another part of the plan, which is run before, has kept. */
public final class SharedRowsReadExec extends SparkPlan {
    private final transient KeptRows kept;
    private final Seq<Attribute> output;

    public SharedRowsReadExec(KeptRows kept, Seq<Attribute> output) {
        this.kept = kept;
        this.output = output;
    }

    @Override
    public Seq<Attribute> output() {
        return output;
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return kept.rows();
    }

    @Override
    public Seq<SparkPlan> children() {
        return asScala(List.<SparkPlan>of());
    }

    @Override
    public SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> function) {
        return this;
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        return this;
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? kept : output;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof SharedRowsReadExec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SharedRowsReadExec that && that.kept == kept && that.output.equals(output);
    }

    @Override
    public int hashCode() {
        return output.hashCode();
    }
}

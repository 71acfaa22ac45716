package flinkplan.runtime.sharing;

import flinkplan.runtime.catalyst.UnaryExec;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Seq;

/** Rows that are kept while a micro-batch lasts, for all who read them. */
public final class SharedRowsExec extends UnaryExec<KeptRows> {
    private final transient KeptRows kept;
    private final SparkPlan child;

    public SharedRowsExec(KeptRows kept, SparkPlan child) {
        this.kept = kept;
        this.child = child;
    }

    @Override
    protected KeptRows value() {
        return kept;
    }

    @Override
    protected SparkPlan child() {
        return child;
    }

    @Override
    protected SharedRowsExec over(SparkPlan other) {
        return new SharedRowsExec(kept, other);
    }

    @Override
    public Seq<Attribute> output() {
        return child.output();
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return kept.keep(child.execute(), child.schema(), !session().sparkContext().isLocal());
    }

    @Override
    public SparkPlan doCanonicalize() {
        return over(child.canonicalized());
    }
}

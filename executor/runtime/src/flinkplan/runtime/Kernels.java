package flinkplan.runtime;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** What the executor calls. */
public final class Kernels {
    private Kernels() {}

    /** Runs a kernel over rows keyed by their first {@code keys} columns. */
    public static Dataset<Row> run(Dataset<Row> input, int keys, Kernel kernel) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
        LogicalPlan child = dataset.queryExecution().analyzed();
        Seq<Attribute> columns = child.output();
        Seq<Attribute> key = columns.take(keys).toSeq();
        StructType keySchema = DataTypeUtils$.MODULE$.fromAttributes(key);
        LogicalPlan plan = TransformWithState$.MODULE$.<InternalRow, InternalRow, InternalRow>apply(
                key,
                columns,
                kernel,
                TimeMode.ProcessingTime(),
                OutputMode.Append(),
                child,
                Rows.encoder(keySchema),
                Rows.encoder(dataset.schema()),
                Rows.encoder(kernel.outputSchema()));
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
    }

    /**
     * The condition that a one-column projection of another frame computes, over rows like that frame's.
     *
     * <p>So a kernel evaluates what Spark's optimizer made of the expression, compiled, on any internal row.
     */
    public static Condition condition(Dataset<Row> projected) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) projected;
        LogicalPlan plan = dataset.queryExecution().optimizedPlan();
        if (plan instanceof Project project) {
            return new Condition((Expression) project.projectList().head(), project.child().output());
        }
        return new Condition(plan.output().head(), plan.output());
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.Rows;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;

/** What the executor calls. */
public final class TimedKernels {
    private TimedKernels() {}

    /** Runs a kernel over rows keyed by their first {@code keys} columns. */
    public static Dataset<Row> run(Dataset<Row> input, int keys, TimedKernel kernel) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
        LogicalPlan child = dataset.queryExecution().analyzed();
        Seq<Attribute> columns = child.output();
        Seq<Attribute> key = columns.take(keys).toSeq();
        LogicalPlan plan = TransformWithState$.MODULE$.<InternalRow, InternalRow, InternalRow>apply(
                key,
                columns,
                kernel,
                kernel.timeMode(),
                OutputMode.Append(),
                child,
                Rows.encoder(DataTypeUtils$.MODULE$.fromAttributes(key)),
                Rows.encoder(dataset.schema()),
                Rows.encoder(kernel.outputSchema()));
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
    }
}

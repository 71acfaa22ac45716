package flinkplan.runtime;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What the executor calls. */
public final class Kernels {
    private Kernels() {}

    /** Runs a kernel over rows keyed by their first {@code keys} columns. */
    public static Dataset<Row> run(Dataset<Row> input, int keys, Kernel kernel) {
        return run(input, keys, kernel, TimeMode.ProcessingTime(), kernel.outputSchema());
    }

    /**
     * Runs a processor, whose output has a given schema, over rows keyed by their first {@code keys} columns.
     *
     * <p>The key goes into states, so that it is grouped by as it is kept there.
     */
    public static Dataset<Row> run(
            Dataset<Row> input,
            int keys,
            StatefulProcessor<InternalRow, InternalRow, InternalRow> processor,
            TimeMode timeMode,
            StructType output) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
        LogicalPlan child = dataset.queryExecution().analyzed();
        List<Attribute> columns = CollectionConverters.asJava(child.output());
        List<Attribute> key = columns.subList(0, keys);
        List<NamedExpression> widened = new ArrayList<>(columns);
        List<Attribute> grouping = new ArrayList<>();
        for (Attribute column : key) {
            NamedExpression kept = Packed.isNeeded(column.dataType()) ? packed(column) : column;
            if (kept != column) {
                widened.add(kept);
            }
            grouping.add(kept.toAttribute());
        }
        LogicalPlan plan = TransformWithState$.MODULE$.<InternalRow, InternalRow, InternalRow>apply(
                CollectionConverters.asScala(grouping).toSeq(),
                child.output(),
                processor,
                timeMode,
                OutputMode.Append(),
                grouping.equals(key) ? child : new Project(CollectionConverters.asScala(widened).toSeq(), child),
                Rows.stateEncoder(DataTypeUtils$.MODULE$.fromAttributes(CollectionConverters.asScala(key).toSeq())),
                Rows.encoder(dataset.schema()),
                Rows.encoder(output));
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
    }

    private static NamedExpression packed(Attribute column) {
        Seq<String> none = CollectionConverters.asScala(List.<String>of()).toSeq();
        return new Alias(new Packed(column), column.name(), NamedExpression.newExprId(), none, Option.empty(), none);
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

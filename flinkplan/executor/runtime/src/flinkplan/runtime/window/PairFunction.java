package flinkplan.runtime.window;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import scala.jdk.javaapi.CollectionConverters;

/** Expressions over two rows side by side, as a projection of another frame computes them, compiled where they run. */
public final class PairFunction implements Serializable {
    private final Expression[] expressions;
    private final Attribute[] columns;
    private transient UnsafeProjection projection;
    private transient JoinedRow pair;

    private PairFunction(List<? extends Expression> expressions, List<Attribute> columns) {
        this.expressions = expressions.toArray(Expression[]::new);
        this.columns = columns.toArray(Attribute[]::new);
    }

    /** What a projection computes over rows like those of the frame below it. */
    public static PairFunction of(Dataset<Row> projected) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) projected;
        LogicalPlan plan = dataset.queryExecution().optimizedPlan();
        LogicalPlan below = plan instanceof Project project ? project.child() : plan;
        List<Attribute> columns = CollectionConverters.asJava(below.output());
        if (plan instanceof Project project) {
            List<Expression> expressions = new ArrayList<>();
            project.projectList().foreach(each -> expressions.add((Expression) each));
            return new PairFunction(expressions, columns);
        }
        return new PairFunction(columns, columns);
    }

    /** The row of the expressions' values, to be kept. */
    InternalRow row(InternalRow a, InternalRow b) {
        return apply(a, b).copy();
    }

    /** The value of the one expression; NaN where it is NULL, which is neither above nor below anything. */
    double number(InternalRow a, InternalRow b) {
        InternalRow result = apply(a, b);
        return result.isNullAt(0) ? Double.NaN : result.getDouble(0);
    }

    private InternalRow apply(InternalRow a, InternalRow b) {
        if (projection == null) {
            projection = UnsafeProjection.create(
                    asScala(List.of(expressions)),
                    asScala(List.of(columns)));
            pair = new JoinedRow();
        }
        return projection.apply(pair.apply(a, b));
    }
}

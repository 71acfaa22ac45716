package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import scala.collection.immutable.Seq;

/** Expressions over columns; what they are compiled to reuses its result. */
public record Projection(Seq<Expression> expressions, Seq<Attribute> columns) implements Serializable {
    /** The projection that {@code projected} is of another frame, over rows like that frame's. */
    public static Projection of(Dataset<Row> projected) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) projected;
        LogicalPlan plan = dataset.queryExecution().optimizedPlan();
        List<Expression> expressions = new ArrayList<>();
        if (plan instanceof Project project) {
            project.projectList().foreach(expression -> expressions.add((Expression) expression));
            return new Projection(asScala(expressions), project.child().output());
        }
        plan.output().foreach(expressions::add);
        return new Projection(asScala(expressions), plan.output());
    }

    public UnsafeProjection compile() {
        UnsafeProjection projection = UnsafeProjection$.MODULE$.create(expressions, columns);
        projection.initialize(0);
        return projection;
    }
}

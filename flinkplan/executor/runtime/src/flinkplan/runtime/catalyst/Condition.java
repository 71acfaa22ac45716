package flinkplan.runtime.catalyst;

import java.io.Serializable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import scala.collection.immutable.Seq;

/** A boolean expression over columns, compiled where it is evaluated; what is not true is false. */
public record Condition(Expression expression, Seq<Attribute> columns) implements Serializable {
    /**
     * The condition that a one-column projection of another frame computes, over rows like that frame's.
     *
     * <p>So a kernel evaluates what Spark's optimizer made of the expression, compiled, on any internal row.
     */
    public static Condition of(Dataset<Row> projected) {
        Projection projection = Projection.of(projected);
        return new Condition(projection.expressions().head(), projection.columns());
    }

    public BasePredicate compile() {
        BasePredicate predicate = Predicate$.MODULE$.create(expression, columns);
        predicate.initialize(0);
        return predicate;
    }
}

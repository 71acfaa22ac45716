package flinkplan.runtime;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import scala.collection.immutable.Seq;

/** A boolean expression over columns; what is not true is false. */
public record Condition(Expression expression, Seq<Attribute> columns) implements Serializable {
    public BasePredicate compile() {
        BasePredicate predicate = Predicate$.MODULE$.create(expression, columns);
        predicate.initialize(0);
        return predicate;
    }
}

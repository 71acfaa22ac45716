package flinkplan.runtime;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import scala.collection.immutable.Seq;

/** Expressions over columns; what they are compiled to reuses its result. */
public record Projection(Seq<Expression> expressions, Seq<Attribute> columns) implements Serializable {
    public UnsafeProjection compile() {
        UnsafeProjection projection = UnsafeProjection$.MODULE$.create(expressions, columns);
        projection.initialize(0);
        return projection;
    }
}

package flinkplan.runtime.realtime;

import flinkplan.runtime.catalyst.MethodCall;
import java.io.Serializable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.CurrentTimestamp;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.DataTypes;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;

/** The time at each row: Spark's own stands still while a batch lasts. */
public final class Clock implements Serializable {

    /** Has a frame ask this clock wherever it asks Spark's. */
    public static Dataset<Row> moving(Dataset<Row> frame) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        PartialFunction<Expression, Expression> replace = new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(Expression expression) {
                return expression instanceof CurrentTimestamp;
            }

            @Override
            public Expression apply(Expression expression) {
                return MethodCall.stateful(new Clock(), "micros", DataTypes.TimestampType);
            }
        };
        LogicalPlan plan = dataset.queryExecution().analyzed();
        LogicalPlan moving = plan.transformAllExpressions(replace);
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), moving);
    }

    /**
     * Microseconds since 1970, in whole milliseconds as all of Flink's clocks; called for each row, once or several
     * times. What an expression makes of two calls a microsecond apart is mostly what it would make of one.
     */
    public long micros() {
        return System.currentTimeMillis() * 1000;
    }
}

package flinkplan.runtime.watermark;

import flinkplan.runtime.catalyst.RunningQuery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import scala.runtime.AbstractPartialFunction;

/**
 * Hands each {@link Resumable} of a batch's plan the watermark that was reached before the batch.
 *
 * <p>Spark keeps this watermark in the checkpoint, so that a batch that is run again after a restart has the same one.
 * The watermark by which Spark itself drops rows is older: it is that of the batch before.
 */
final class ResumeRule extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
        StreamExecution query = RunningQuery.in(plan.session());
        if (query == null) {
            return plan;
        }
        var batch = query.getLatestExecutionContext();
        long reached = batch.offsetSeqMetadata().batchWatermarkMs();
        boolean isKnown = reached > 0 && reached < SparkTime.END;
        long watermark = isKnown ? SparkTime.watermark(reached) : Long.MIN_VALUE;
        return plan.transformAllExpressions(new Resumed(batch.batchId(), watermark));
    }

    private static final class Resumed extends AbstractPartialFunction<Expression, Expression> {
        private final long batch;
        private final long watermark;

        Resumed(long batch, long watermark) {
            this.batch = batch;
            this.watermark = watermark;
        }

        @Override
        public boolean isDefinedAt(Expression expression) {
            return expression instanceof Literal literal && literal.value() instanceof Resumable;
        }

        @Override
        public Expression apply(Expression expression) {
            Literal literal = (Literal) expression;
            return new Literal(((Resumable) literal.value()).resumed(batch, watermark), literal.dataType());
        }
    }
}

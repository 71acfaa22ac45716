package flinkplan.runtime.planning;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.CurrentBatchTimestamp;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionWithRandomSeed;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.trees.TreePatternBits;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import scala.Enumeration;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * What Spark's optimizer has made of a query in the last micro-batch, of which it makes what it would make in the next.
 *
 * <p>The plans of two micro-batches that have rows of the same sources differ by the places at which these are read and
 * by the time of the batch. The optimizer looks at neither, and Spark puts the time in only behind it.
 */
public final class KeptPlan {
    private static final Option<Offset> NOWHERE = Option.empty();
    private static final Seq<Enumeration.Value> OF_EACH_BATCH =
            asScala(List.of(TreePattern.CURRENT_LIKE(), TreePattern.EXPRESSION_WITH_RANDOM_SEED()));

    private LogicalPlan query;
    private LogicalPlan optimized;

    /** The plan of a micro-batch as the optimizer of a session makes it, and Spark behind that. */
    synchronized LogicalPlan optimized(LogicalPlan plan, SparkSession session) {
        LogicalPlan same = withoutBatch(plan);
        if (!same.equals(query)) {
            optimized = session.sessionState().optimizer().execute(plan.clone());
            query = same;
        }
        return withBatchOf(plan);
    }

    private static LogicalPlan withoutBatch(LogicalPlan plan) {
        LogicalPlan query = sources(plan, source -> read(source, NOWHERE, NOWHERE));
        return expressions(query, expression -> expression instanceof CurrentBatchTimestamp time ? at(time, 0) : expression);
    }

    private LogicalPlan withBatchOf(LogicalPlan plan) {
        Map<SparkDataStream, StreamingDataSourceV2ScanRelation> read = new IdentityHashMap<>();
        sources(plan, source -> {
            read.put(source.stream(), source);
            return source;
        });
        long[] now = new long[1];
        expressions(plan, expression -> {
            if (expression instanceof CurrentBatchTimestamp time) {
                now[0] = time.timestampMs();
            }
            return expression;
        });
        LogicalPlan placed = sources(optimized, source -> {
            StreamingDataSourceV2ScanRelation batch = read.get(source.stream());
            return read(source, batch.startOffset(), batch.endOffset());
        });
        return expressions(placed, expression -> {
            if (expression instanceof CurrentBatchTimestamp time) {
                return at(time, now[0]).toLiteral();
            }
            return expression instanceof ExpressionWithRandomSeed random
                    ? random.withNewSeed(ThreadLocalRandom.current().nextLong())
                    : expression;
        });
    }

    private static StreamingDataSourceV2ScanRelation read(
            StreamingDataSourceV2ScanRelation source, Option<Offset> start, Option<Offset> end) {
        return source.copy(source.relation(), source.scan(), source.output(), source.stream(), start, end);
    }

    private static CurrentBatchTimestamp at(CurrentBatchTimestamp time, long milliseconds) {
        return time.copy(milliseconds, time.dataType(), time.timeZoneId());
    }

    private static LogicalPlan sources(LogicalPlan plan, UnaryOperator<StreamingDataSourceV2ScanRelation> change) {
        return plan.transformDown(new Changing<>(
                node -> node instanceof StreamingDataSourceV2ScanRelation source ? change.apply(source) : node));
    }

    /** Changes the expressions that are other ones in each batch. */
    private static LogicalPlan expressions(LogicalPlan plan, UnaryOperator<Expression> change) {
        Function1<TreePatternBits, Object> may = new AbstractFunction1<>() {
            @Override
            public Object apply(TreePatternBits bits) {
                return bits.containsAnyPattern(OF_EACH_BATCH);
            }
        };
        return plan.transformAllExpressionsWithPruning(
                may, plan.transformAllExpressionsWithPruning$default$2(), new Changing<>(change));
    }

    private static final class Changing<T extends TreeNode<T>> extends AbstractPartialFunction<T, T> {
        private final UnaryOperator<T> change;

        Changing(UnaryOperator<T> change) {
            this.change = change;
        }

        @Override
        public boolean isDefinedAt(T node) {
            return true;
        }

        @Override
        public T apply(T node) {
            return change.apply(node);
        }
    }

    /** How plans show it. */
    @Override
    public String toString() {
        return "kept";
    }
}

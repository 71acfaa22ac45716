package flinkplan.runtime.checkpoint;

import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.streaming.state.StateRewriter;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;

/** Writes the state of a query anew, as of a batch without rows, with fewer entries. */
public final class EntryFilter {
    /** The option of Spark's source of states that names the operator ({@code StateSourceOptions}). */
    private static final String OPERATOR = "operatorId";

    private EntryFilter() {}

    /**
     * Writes the state of batch {@code batch + 1}, which is logged already, from that of {@code batch}.
     *
     * @param checkpoint where the query keeps its progress and state
     * @param kept by the number of an operator which of its entries stay, told by the column {@code partition_key}, the
     *     key of each entry, timer, and index entry; operators without a condition keep all
     */
    public static void rewrite(SparkSession session, String checkpoint, long batch, Map<Integer, Column> kept) {
        Function1<Dataset<Row>, Dataset<Row>> filter = new AbstractFunction1<>() {
            @Override
            public Dataset<Row> apply(Dataset<Row> entries) {
                Column condition = kept.get(operator(entries));
                Dataset<Row> read = StateSource.reading(entries);
                return condition == null ? read : read.filter(condition);
            }
        };
        new StateRewriter(
                        session,
                        batch,
                        batch + 1,
                        checkpoint,
                        session.sessionState().newHadoopConf(),
                        Option.empty(),
                        Option.apply(filter),
                        Option.empty())
                .run();
    }

    private static int operator(Dataset<Row> entries) {
        var plan = ((org.apache.spark.sql.classic.Dataset<Row>) entries)
                .queryExecution()
                .analyzed();
        if (plan.collectLeaves().head() instanceof DataSourceV2Relation relation) {
            return relation.options().getInt(OPERATOR, -1);
        }
        throw new IllegalStateException("this is not a source of states: " + plan);
    }
}

package flinkplan.runtime.progress;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.catalyst.RunningQuery;
import flinkplan.runtime.source.ScannedTable;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.MapGroupsExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.execution.joins.BaseJoinExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The rows that came of each source and passed the filters behind it, and those that went into and came out of each
 * operator with state, as Spark's metrics of a batch have them.
 */
public final class PlanCounts {
    private static final String ROWS_OUT = "numOutputRows";
    private static final String ROWS_SHUFFLED = "shuffleRecordsWritten";
    private static final int SINK = -1;
    private static final int OTHER = -2;
    private static final long UNKNOWN = -1;

    /** The nodes of the sources of a stream. */
    private final Map<Object, Integer> nodes = new IdentityHashMap<>();
    private final ArrayNode inputs;
    private final ObjectNode operators;

    private PlanCounts(ObjectNode counts) {
        inputs = counts.putArray("inputs");
        operators = counts.putObject("operators");
    }

    /**
     * Adds to {@code counts} what a batch that has been written has counted: {@code "inputs": [[node, reader, rows read,
     * rows that have passed all filters before the reader], …], "operators": {number: [rows in, rows out]}}.
     *
     * <p>A reader is the number of an operator with state; -1 is the sink, -2 another operator that changes how many
     * rows there are. -1 of rows: they are not known.
     *
     * @param rows those of the batch
     * @param execution what has read them where they are not those of a stream; null: it is not known
     */
    public static void add(ObjectNode counts, Dataset<Row> rows, QueryExecution execution) {
        var session = ((org.apache.spark.sql.classic.Dataset<Row>) rows).sparkSession();
        var stream = RunningQuery.in(session);
        PlanCounts made = new PlanCounts(counts);
        if (stream != null) {
            QueryExecution batch = stream.getLatestExecutionContext().executionPlan();
            made.name(stream.logicalPlan());
            made.walk(batch.executedPlan(), SINK, UNKNOWN, 0);
        } else if (execution != null) {
            made.walk(execution.executedPlan(), SINK, UNKNOWN, 0);
        }
    }

    private void name(LogicalPlan plan) {
        for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
            if (leaf instanceof StreamingDataSourceV2ScanRelation source) {
                String node = source.relation().options().get(ScannedTable.NODE);
                if (node != null) {
                    nodes.put(source.stream(), Integer.valueOf(node));
                }
            }
        }
    }

    /**
     * @param reader what the rows of the plan come to
     * @param passed how many rows have passed the last filter before that; {@link #UNKNOWN}: there is none
     * @param least how many rows a source has had at least: those that were kept of it for several queries, of which
     *     another one may still read it, so that it has not been counted
     */
    private void walk(SparkPlan plan, int reader, long passed, long least) {
        if (plan instanceof MicroBatchScanExec scan) {
            read(nodes.get(scan.stream()), plan, reader, passed, least);
        } else if (plan instanceof BatchScanExec scan && scan.table() instanceof ScannedTable table) {
            read(table.node(), plan, reader, passed, least);
        } else if (plan instanceof FileSourceScanExec scan && scan.relation().options().contains(ScannedTable.NODE)) {
            read(Integer.valueOf(scan.relation().options().apply(ScannedTable.NODE)), plan, reader, passed, least);
        } else if (plan instanceof StateStoreWriter operator && operator.stateInfo().isDefined()) {
            int number = (int) operator.getStateInfo().operatorId();
            operators.putArray(Integer.toString(number)).add(rowsInto(plan)).add(metric(plan, ROWS_OUT));
            children(plan).forEach(child -> walk(child, number, UNKNOWN, least));
        } else if (plan instanceof BaseJoinExec || plan instanceof BaseAggregateExec || plan instanceof MapGroupsExec) {
            // those of a stream that count for an operator with state stand around that
            int behind = reader >= 0 ? reader : OTHER;
            children(plan).forEach(child -> walk(child, behind, UNKNOWN, least));
        } else {
            boolean isLast = plan instanceof FilterExec && passed == UNKNOWN;
            long rows = isLast ? Math.max(least, metric(plan, ROWS_OUT)) : passed;
            long kept = plan instanceof InMemoryTableScanExec ? Math.max(least, metric(plan, ROWS_OUT)) : least;
            children(plan).forEach(child -> walk(child, reader, rows, kept));
        }
    }

    private void read(Integer node, SparkPlan scan, int reader, long passed, long least) {
        if (node != null) {
            long rows = Math.max(least, metric(scan, ROWS_OUT));
            inputs.addArray().add(node).add(reader).add(rows).add(passed == UNKNOWN ? rows : passed);
        }
    }

    /** The rows that are brought to an operator: all that its shuffles have written, or what else is counted nearest. */
    private static long rowsInto(SparkPlan operator) {
        long rows = 0;
        for (SparkPlan child : children(operator)) {
            long more = metric(child, ROWS_SHUFFLED);
            if (more == UNKNOWN) {
                boolean isCounted = child instanceof FilterExec || children(child).isEmpty();
                more = isCounted ? metric(child, ROWS_OUT) : rowsInto(child);
            }
            if (more == UNKNOWN) {
                return UNKNOWN;
            }
            rows += more;
        }
        return rows;
    }

    private static long metric(SparkPlan plan, String name) {
        Option<SQLMetric> metric = plan.metrics().get(name);
        return metric.isDefined() ? metric.get().value() : UNKNOWN;
    }

    private static List<SparkPlan> children(SparkPlan plan) {
        if (plan instanceof AdaptiveSparkPlanExec adaptive) {
            return List.of(adaptive.executedPlan());
        }
        if (plan instanceof QueryStageExec stage) {
            return List.of(stage.plan());
        }
        if (plan instanceof ReusedExchangeExec reused) {
            return List.of(reused.child());
        }
        if (plan instanceof InMemoryTableScanExec cached) {
            return List.of(cached.relation().cachedPlan());
        }
        if (plan instanceof TransformWithStateExec) {
            return List.of(plan.children().head()); // the other one is its first state
        }
        return CollectionConverters.asJava(plan.children());
    }
}

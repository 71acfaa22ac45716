package flinkplan.runtime.sink;

import flinkplan.runtime.batch.RowsRead;
import flinkplan.runtime.watermark.LateRows;
import java.io.Serializable;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.QueryExecution;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction2;

/** Writes the batches of a query as messages, which a client in Spark's Python workers sends. */
public final class MessageWriter implements PlannedWriter {
    private final Column[] message;
    private final Column send;
    private final boolean changelog;
    private final List<Integer> keys;
    private final Counts counts = new Counts();

    /**
     * @param message the columns of a message as they are computed of rows
     * @param send the function of Python's that takes these columns, and tells of each task how many rows it has written
     * @param changelog whether row kind and what rows stand in order by follow their columns
     * @param keys the indexes of the columns that tell which rows belong together
     */
    public MessageWriter(List<Column> message, Column send, boolean changelog, List<Integer> keys) {
        this.message = message.toArray(Column[]::new);
        this.send = send;
        this.changelog = changelog;
        this.keys = List.copyOf(keys);
    }

    /** How many rows each task has written, a row each. */
    @Override
    public Dataset<Row> planned(Dataset<Row> rows) {
        Dataset<Row> inOrder = changelog ? Changes.inOrder(rows, keys) : rows;
        var messages = (org.apache.spark.sql.classic.Dataset<Row>) inOrder.select(message);
        return messages.mapInArrow(send, false, null);
    }

    @Override
    public void call(Dataset<Row> rows, Long batch) {
        boolean arePlanned = PlannedWriter.arePlanned(rows);
        Dataset<Row> sent = arePlanned ? rows : planned(rows);
        QueryExecution execution = sent.queryExecution();
        long written = arePlanned
                ? written(execution.toRdd())
                : sent.collectAsList().stream().mapToLong(row -> row.getLong(0)).sum();
        counts.add(batch, written, arePlanned ? 0 : RowsRead.of(execution.executedPlan()), rows, execution);
    }

    private static long written(RDD<InternalRow> tasks) {
        long[] written = (long[]) tasks.context().runJob(tasks, new Sum(), ClassTag.Long());
        return LongStream.of(written).sum();
    }

    /** What a task has written; a class of its own, as Spark would look through what it takes for a closure. */
    private static final class Sum extends AbstractFunction2<TaskContext, Iterator<InternalRow>, Object>
            implements Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public Object apply(TaskContext task, Iterator<InternalRow> rows) {
            long sum = 0;
            while (rows.hasNext()) {
                sum += rows.next().getLong(0);
            }
            return sum;
        }
    }

    /** Has the rows counted that a node drops. */
    public void countLate(int node, LateRows late) {
        counts.add(node, late);
    }

    /** What a batch has done, as {@link Counts#take} tells it once. */
    public String counts(long batch) {
        return counts.take(batch);
    }
}

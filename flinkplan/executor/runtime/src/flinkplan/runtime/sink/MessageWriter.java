package flinkplan.runtime.sink;

import flinkplan.runtime.batch.RowsRead;
import flinkplan.runtime.watermark.LateRows;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Writes the batches of a query as messages, which a client in Spark's Python workers sends. */
public final class MessageWriter implements EndingWriter {
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

    @Override
    public void call(Dataset<Row> rows, Long batch) {
        Dataset<Row> inOrder = changelog ? Changes.inOrder(rows, keys) : rows;
        var messages = (org.apache.spark.sql.classic.Dataset<Row>) inOrder.select(message);
        var sent = messages.mapInArrow(send, false, null);
        long written = sent.collectAsList().stream().mapToLong(row -> row.getLong(0)).sum();
        var execution = sent.queryExecution();
        counts.add(batch, written, RowsRead.of(execution.executedPlan()), rows, execution);
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

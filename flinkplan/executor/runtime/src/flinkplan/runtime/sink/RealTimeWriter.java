package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.LateRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.util.LongAccumulator;

/** Writes the rows of a query into one table as they come. */
public final class RealTimeWriter extends ForeachWriter<InternalRow> {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final RowByRowSink sink;
    private final boolean changelog;
    private final LongAccumulator written;
    private final EpochFiles files;
    private final transient Counts counts = new Counts();
    private transient RowByRowSink.Writer writer;
    private transient String epoch;
    private transient long counted;

    /**
     * A writer of rows whose columns are those of the table, then, in a changelog, row kind and others.
     *
     * @param spec as that of a {@link BatchWriter}
     * @param checkpoint where the query keeps its progress
     */
    public RealTimeWriter(SparkSession session, String spec, String checkpoint) throws IOException {
        JsonNode json = MAPPER.readTree(spec);
        sink = (RowByRowSink) BatchWriter.sink(json);
        changelog = json.get("changelog").asBoolean();
        written = session.sparkContext().longAccumulator();
        files = json.has("path") ? new EpochFiles(json.get("path").asText(), checkpoint) : null;
        if (files != null) {
            files.restore();
            session.streams().addListener(files.listener());
        }
    }

    /** The rows as this writer takes them, which are Spark's own. */
    public static Dataset<InternalRow> rows(Dataset<Row> frame) {
        return frame.as(Rows.encoder(frame.schema()));
    }

    @Override
    public boolean open(long task, long batch) {
        epoch = EpochFiles.name(TaskContext.get().getLocalProperty("sql.streaming.queryId"), batch);
        try {
            writer = sink.open(epoch, (int) task, changelog);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    @Override
    public void process(InternalRow row) {
        try {
            writer.write(row);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close(Throwable error) {
        if (writer == null) {
            return;
        }
        try (RowByRowSink.Writer closing = writer) {
            if (error == null) {
                finish(closing.finish());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void finish(RowSink.Written done) throws IOException {
        if (files != null) {
            files.finish(epoch, done.files());
        }
        written.add(done.rows());
    }

    /** Shows readers what the query has committed; to be called once it has stopped. */
    public void settle() throws IOException {
        if (files != null) {
            files.publish();
        }
    }

    /** Has the rows counted that a node drops. */
    public void countLate(int node, LateRows late) {
        counts.add(node, late);
    }

    /** What has been written and dropped since the last call, as {@link Counts#take} tells it. */
    public String counts(long batch) {
        long total = written.sum();
        counts.add(batch, total - counted, 0);
        counted = total;
        return counts.take(batch);
    }
}

package flinkplan.runtime.sink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.batch.RowsRead;
import flinkplan.runtime.format.Encoder;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.FormatOptions;
import flinkplan.runtime.format.RowText;
import flinkplan.runtime.jdbc.JdbcWriter;
import flinkplan.runtime.watermark.LateRows;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.QueryExecution;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction2;

/** Writes the batches of a query into one table. */
public final class BatchWriter implements PlannedWriter {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final RowSink sink;
    private final boolean changelog;
    private final List<Integer> keys = new ArrayList<>();
    private final Publication publication;
    private final PartitionCommits commits;
    private final Compaction compaction;
    private final Counts counts = new Counts();

    /**
     * A writer of rows whose columns are those of the table, then the partition columns, then, in a changelog, row
     * kind and what they stand in order by.
     *
     * @param spec {@code {"connector", "type", "changelog", "keys": [indexes of the primary key], "published": where
     *     the checkpoint lists files, …}} in JSON
     */
    public BatchWriter(String spec) throws JsonProcessingException {
        JsonNode json = MAPPER.readTree(spec);
        sink = sink(json);
        changelog = json.get("changelog").asBoolean();
        json.get("keys").forEach(key -> keys.add(key.asInt()));
        publication = json.has("path") ? Publication.of(json) : null;
        commits = PartitionCommits.of(json);
        compaction = Compaction.of(json);
    }

    /** The sink that a spec describes. */
    static RowSink sink(JsonNode spec) {
        FlinkType type = FlinkType.parse(spec.get("type"));
        return switch (spec.get("connector").asText()) {
            case "blackhole" -> new BlackholeSink();
            case "print" -> new PrintSink(
                    spec.get("identifier").asText(), spec.get("toErrors").asBoolean(), new RowText(type), type.size());
            case "filesystem" -> fileSink(spec, type);
            case "kafka" -> MessageSink.of(spec);
            case "jdbc" -> new JdbcSink(JdbcWriter.of(spec));
            default -> throw new IllegalArgumentException("unknown connector " + spec.get("connector"));
        };
    }

    private static RowSink fileSink(JsonNode spec, FlinkType type) {
        Map<String, String> options = new HashMap<>();
        spec.get("options").properties().forEach(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        List<String> partitions = new ArrayList<>();
        List<FlinkType> partitionTypes = new ArrayList<>();
        spec.get("partitions").forEach(name -> partitions.add(name.asText()));
        spec.get("partitionTypes").forEach(json -> partitionTypes.add(FlinkType.parse(json)));
        return new FileSink(
                spec.get("path").asText(),
                Encoder.of(spec.get("format").asText(), type, new FormatOptions(options)),
                type.size() + partitions.size(),
                partitions,
                partitionTypes,
                spec.get("defaultPartition").asText(),
                spec.get("fileSize").asLong());
    }

    /** The rows that belong together in one partition, and changes in their order. */
    @Override
    public Dataset<Row> planned(Dataset<Row> given) {
        Dataset<Row> rows = compaction.of(given);
        return changelog && sink.keepsOrder() ? Changes.inOrder(rows, keys) : rows;
    }

    @Override
    public void call(Dataset<Row> given, Long batch) throws IOException {
        boolean arePlanned = PlannedWriter.arePlanned(given);
        Dataset<Row> rows = arePlanned ? given : planned(given);
        RowSink sink = this.sink;
        boolean changelog = this.changelog;
        String name = name(rows, batch);
        QueryExecution execution = rows.queryExecution();
        RDD<InternalRow> partitions = execution.toRdd();
        if (publication == null) {
            long written = rows(run(partitions, sink, name, changelog));
            counts.add(batch, written, arePlanned ? 0 : RowsRead.of(execution.executedPlan()), rows, execution);
            return;
        }
        if (finished(name, rows)) {
            counts.add(batch, 0, 0);
            return;
        }
        publication.clean(name);
        try {
            List<RowSink.Written> done = run(partitions, sink, name, changelog);
            List<Publication.Staged> files = done.stream().flatMap(task -> task.files().stream()).toList();
            publication.publish(name, files);
            if (commits != null) {
                commits.after(files, rows.sparkSession());
            }
            counts.add(batch, rows(done), arePlanned ? 0 : RowsRead.of(execution.executedPlan()), rows, execution);
        } finally {
            publication.clean(name);
        }
    }

    /** Whether the batch was about to replace files when its process died, which is now done. */
    private boolean finished(String name, Dataset<Row> rows) throws IOException {
        List<Publication.Staged> files = publication.finish(name);
        if (files != null && commits != null) {
            commits.after(files, rows.sparkSession());
        }
        return files != null;
    }

    @Override
    public void end() throws IOException {
        if (commits != null) {
            commits.end();
        }
    }

    private static List<RowSink.Written> run(
            RDD<InternalRow> partitions, RowSink sink, String batch, boolean changelog) {
        RDD<RowSink.Written> written = new WrittenRows(partitions, sink, batch, changelog);
        Object done = written.context().runJob(written, new First(), WrittenRows.TAG);
        return List.of((RowSink.Written[]) done);
    }

    /** What each task has written; the only element of its partition. */
    private static final class WrittenRows extends RDD<RowSink.Written> {
        private static final long serialVersionUID = 1L;
        private static final ClassTag<RowSink.Written> TAG = ClassTag.apply(RowSink.Written.class);

        private final RowSink sink;
        private final String batch;
        private final boolean changelog;

        WrittenRows(RDD<InternalRow> rows, RowSink sink, String batch, boolean changelog) {
            super(rows, TAG);
            this.sink = sink;
            this.batch = batch;
            this.changelog = changelog;
        }

        @Override
        public Partition[] getPartitions() {
            return rows().partitions();
        }

        @Override
        public scala.collection.Iterator<RowSink.Written> compute(Partition task, TaskContext context) {
            // the values, as long as nobody stops the task, which Spark leaves to whoever goes over them
            var values = new InterruptibleIterator<>(context, rows().iterator(task, context));
            try {
                return scala.collection.Iterator.single(
                        sink.write(batch, task.index(), changelog, CollectionConverters.asJava(values)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private RDD<InternalRow> rows() {
            return firstParent(ClassTag.apply(InternalRow.class));
        }
    }

    /**
     * The one element that a task has.
     *
     * <p>To collect all, and for functions over partitions, Spark would look in each batch through its largest classes for
     * what a closure reads.
     */
    private static final class First
            extends AbstractFunction2<TaskContext, scala.collection.Iterator<RowSink.Written>, RowSink.Written>
            implements Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public RowSink.Written apply(TaskContext task, scala.collection.Iterator<RowSink.Written> elements) {
            return elements.next();
        }
    }

    private static long rows(List<RowSink.Written> done) {
        return done.stream().mapToLong(RowSink.Written::rows).sum();
    }

    /** A name that no other batch of any query has. */
    static String name(Dataset<Row> rows, long batch) {
        return String.format("%s-%010d", query(rows), batch);
    }

    /** The id of the query, which is another one for each checkpoint. */
    static String query(Dataset<Row> rows) {
        return rows.sparkSession().sparkContext().getLocalProperty("sql.streaming.queryId");
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

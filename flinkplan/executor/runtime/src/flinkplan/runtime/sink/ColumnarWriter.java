package flinkplan.runtime.sink;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.md5;
import static org.apache.spark.sql.functions.row_number;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.to_json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.batch.RowsRead;
import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.watermark.LateRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.util.QueryExecutionListener;

/** Writes the batches of a query with Spark's own writer of a columnar format. */
public final class ColumnarWriter implements EndingWriter {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String PARTITION = "__partition", DELETED = "__deleted", NUMBER = "__number";

    private final String path;
    private final String format;
    private final Map<String, String> options = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final List<String> partitions = new ArrayList<>();
    private final Map<String, String> stored = new HashMap<>();
    private final List<String> order = new ArrayList<>();
    private final List<Integer> keys = new ArrayList<>();
    private final boolean merges;
    private final boolean handsOver;
    private final boolean allChanges;
    private final String overwritten;
    private final Publication publication;
    private final PartitionCommits commits;
    private final Compaction compaction;
    private final PythonMethods log;
    private final Counts counts = new Counts();

    /**
     * @param spec {@code {"path", "format", "options", "type", "partitions", "published", …}} in JSON; where it has
     *     {@code "order"}, files hold all columns in that order, and each file those of one partition; {@code "stored"}
     *     are the types of columns that files hold with other ones; {@code "changelog"} says that row kinds and what
     *     rows stand in order by follow the columns, {@code "keys"} are the indexes of those of the primary key; {@code
     *     "handsOver"} says that the log writes data files of its own, {@code "allChanges"} that it takes all changes,
     *     not only the last one of each key; {@code "overwrites": {"partition"}} that the rows replace those of the
     *     table, or of the partitions that they are of
     * @param log what commits the files of a batch to a table that has a log: its methods {@code holds} and {@code
     *     commit}, or {@code append} where it writes data files, or, of changes, {@code merge}, or {@code overwrite};
     *     null where the files alone are the table
     */
    public ColumnarWriter(String spec, BiFunction<String, String, String> log) throws JsonProcessingException {
        JsonNode json = MAPPER.readTree(spec);
        path = json.get("path").asText();
        format = json.get("format").asText();
        json.get("options").properties().forEach(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        json.get("type").get("names").forEach(name -> names.add(name.asText()));
        json.get("partitions").forEach(name -> partitions.add(name.asText()));
        names.addAll(partitions);
        json.path("stored").properties().forEach(entry -> stored.put(entry.getKey(), entry.getValue().asText()));
        json.path("order").forEach(name -> order.add(name.asText()));
        json.path("keys").forEach(key -> keys.add(key.asInt()));
        merges = log != null && json.path("changelog").asBoolean();
        JsonNode overwrites = json.path("overwrites");
        overwritten = overwrites.isObject() ? overwrites.get("partition").toString() : null;
        handsOver = merges || json.path("handsOver").asBoolean() || (log != null && overwritten != null);
        allChanges = json.path("allChanges").asBoolean() && overwritten == null;
        publication = Publication.of(json);
        commits = PartitionCommits.of(json);
        compaction = Compaction.of(json);
        this.log = log == null ? null : new PythonMethods(log);
    }

    @Override
    public void call(Dataset<Row> given, Long batch) throws IOException, InterruptedException, TimeoutException {
        String query = BatchWriter.query(given);
        if (log != null && log.ask("holds", text(query), batch.toString()).equals("true")) {
            given.write().format("noop").mode("overwrite").save(); // its states are still to be committed
            counts.add(batch, 0, 0);
            return;
        }
        Observation observation = new Observation();
        Dataset<Row> rows = log == null ? compaction.of(given) : withMicroseconds(given);
        Dataset<Row> named = merges ? changes(rows) : rows.toDF(names.toArray(String[]::new));
        Dataset<Row> counted = ordered(named.observe(observation, count(lit(1)).as("rows")));
        List<String> folders = order.isEmpty() || partitions.isEmpty() ? partitions : List.of(PARTITION);
        if (handsOver) {
            folders = List.of();
        }
        String name = BatchWriter.name(rows, batch);
        if (log == null && finished(name, rows)) {
            counts.add(batch, 0, 0);
            return;
        }
        Path staging = Publication.staging(path, name);
        publication.clean(name);
        LongAdder rowsRead = new LongAdder();
        QueryExecutionListener listener = countingRead(rowsRead);
        rows.sparkSession().listenerManager().register(listener);
        try {
            counted
                    .write()
                    .format(format)
                    .options(options)
                    .partitionBy(folders.toArray(String[]::new))
                    .save(staging.toString());
            List<Publication.Staged> files = staged(staging, name);
            if (handsOver) {
                List<String> paths =
                        files.stream().map(file -> new Path(staging, file.staged()).toUri().getPath()).toList();
                hand(query, batch, MAPPER.writeValueAsString(paths));
            } else {
                publication.publish(name, files);
                if (commits != null) {
                    commits.after(files, rows.sparkSession());
                }
                if (log != null) {
                    List<String> paths = files.stream().map(Publication.Staged::target).toList();
                    log.ask("commit", text(query), batch.toString(), MAPPER.writeValueAsString(paths));
                }
            }
            rows.sparkSession().sparkContext().listenerBus().waitUntilEmpty();
            counts.add(batch, (long) observation.getAsJava().get("rows"), rowsRead.sum(), given, null);
        } finally {
            rows.sparkSession().listenerManager().unregister(listener);
            publication.clean(name);
        }
    }

    @Override
    public void end() throws IOException {
        if (commits != null) {
            commits.end();
        }
    }

    /** The rows in a session of their own, which writes times in microseconds: readers of tables take no others. */
    private static Dataset<Row> withMicroseconds(Dataset<Row> rows) {
        var own = (org.apache.spark.sql.classic.Dataset<Row>) rows;
        var session = own.sparkSession().cloneSession();
        session.conf().set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
        return org.apache.spark.sql.classic.Dataset.ofRows(session, own.queryExecution().analyzed());
    }

    private void hand(String query, Long batch, String paths) throws JsonProcessingException {
        if (overwritten != null) {
            log.ask("overwrite", text(query), batch.toString(), paths, overwritten);
        } else {
            log.ask(merges ? "merge" : "append", text(query), batch.toString(), paths);
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

    /** The changes of a batch as they are handed to the log, or the rows that they leave. */
    private Dataset<Row> changes(Dataset<Row> changes) {
        Dataset<Row> handed = allChanges ? allChanges(changes) : lastOfEachKey(changes);
        return overwritten == null ? handed : handed.filter(col(DELETED).equalTo(false)).drop(DELETED);
    }

    /** All changes of a batch with their kinds, those of a key together and in their order. */
    private Dataset<Row> allChanges(Dataset<Row> changes) {
        Dataset<Row> inOrder = Changes.inOrder(changes, keys);
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            columns.add(inOrder.col(inOrder.columns()[i]).as(names.get(i)));
        }
        columns.add(inOrder.col(Hidden.KIND));
        return inOrder.select(columns.toArray(Column[]::new));
    }

    /** The last change of each key in a batch: the columns of its row, and whether the key has none any more. */
    private Dataset<Row> lastOfEachKey(Dataset<Row> changes) {
        Column[] key = keys.stream().map(i -> changes.col(changes.columns()[i])).toArray(Column[]::new);
        List<Column> latest = Changes.order(changes).stream().map(Column::desc).toList();
        Column number = row_number().over(Window.partitionBy(key).orderBy(latest.toArray(Column[]::new)));
        Dataset<Row> last = changes.withColumn(NUMBER, number).filter(col(NUMBER).equalTo(1));
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            columns.add(last.col(changes.columns()[i]).as(names.get(i)));
        }
        columns.add(Changes.retracts().as(DELETED));
        return last.select(columns.toArray(Column[]::new));
    }

    /** The columns as files hold them; those of partitions that files hold, too, have a name for each partition. */
    private Dataset<Row> ordered(Dataset<Row> rows) {
        if (order.isEmpty()) {
            return rows;
        }
        List<Column> columns = new ArrayList<>();
        for (String name : order) {
            Column column = rows.col("`" + name.replace("`", "``") + "`");
            columns.add(stored.containsKey(name) ? column.cast(stored.get(name)).as(name) : column);
        }
        if (merges && overwritten == null) {
            columns.add(rows.col(DELETED));
        } else if (!handsOver && !partitions.isEmpty()) {
            Column[] values = partitions.stream()
                    .map(name -> rows.col("`" + name.replace("`", "``") + "`"))
                    .toArray(Column[]::new);
            columns.add(md5(to_json(struct(values)).cast("binary")).as(PARTITION));
        }
        return rows.select(columns.toArray(Column[]::new));
    }

    private static String text(String value) throws JsonProcessingException {
        return MAPPER.writeValueAsString(value);
    }

    /** What is told of plans that have been run. */
    private static QueryExecutionListener countingRead(LongAdder rows) {
        return new QueryExecutionListener() {
            @Override
            public void onSuccess(String function, QueryExecution execution, long nanos) {
                rows.add(RowsRead.of(execution.executedPlan()));
            }

            @Override
            public void onFailure(String function, QueryExecution execution, Exception failure) {}
        };
    }

    /** The files that Spark has written, with names made of the batch's. */
    private List<Publication.Staged> staged(Path staging, String name) throws IOException {
        FileSystem fileSystem = staging.getFileSystem(SparkHadoopUtil.get().conf());
        String root = fileSystem.makeQualified(staging) + "/";
        List<Publication.Staged> stagedFiles = new ArrayList<>();
        for (RemoteIterator<LocatedFileStatus> files = fileSystem.listFiles(staging, true); files.hasNext(); ) {
            Path file = files.next().getPath();
            if (file.getName().startsWith("_") || file.getName().startsWith(".")) {
                continue;
            }
            String path = file.toString().substring(root.length());
            String folder = path.substring(0, path.length() - file.getName().length());
            String part = Publication.fileName(name, String.format("%05d.%s", stagedFiles.size(), format));
            stagedFiles.add(new Publication.Staged(path, folder + part));
        }
        return stagedFiles;
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

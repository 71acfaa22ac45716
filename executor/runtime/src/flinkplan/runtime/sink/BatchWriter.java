package flinkplan.runtime.sink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.format.Encoder;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.FormatOptions;
import flinkplan.runtime.format.RowText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes the batches of a query into one table. */
public final class BatchWriter implements VoidFunction2<Dataset<Row>, Long> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final RowSink sink;
  private final boolean changelog;
  private final AtomicLong written = new AtomicLong();

  /**
   * A writer of rows whose columns are those of the table, then the partition columns, then, in a changelog, the
   * row kind.
   *
   * @param spec {@code {"connector", "type", …}} in JSON
   */
  public BatchWriter(String spec, boolean changelog) throws JsonProcessingException {
    this.sink = sink(MAPPER.readTree(spec));
    this.changelog = changelog;
  }

  private static RowSink sink(JsonNode spec) {
    FlinkType type = FlinkType.parse(spec.get("type"));
    return switch (spec.get("connector").asText()) {
      case "blackhole" -> new BlackholeSink();
      case "print" -> new PrintSink(
          spec.get("identifier").asText(), spec.get("toErrors").asBoolean(), new RowText(type), type.size());
      case "filesystem" -> fileSink(spec, type);
      default -> throw new IllegalArgumentException("unknown connector " + spec.get("connector"));
    };
  }

  private static RowSink fileSink(JsonNode spec, FlinkType type) {
    Map<String, String> options = new HashMap<>();
    spec.get("options").fields().forEachRemaining(entry -> options.put(entry.getKey(), entry.getValue().asText()));
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
        spec.get("defaultPartition").asText());
  }

  @Override
  public void call(Dataset<Row> rows, Long batch) {
    RowSink sink = this.sink;
    boolean changelog = this.changelog;
    String name = String.format("%s-%010d", queryId(rows), batch);
    JavaRDD<InternalRow> partitions =
        ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution().toRdd().toJavaRDD();
    List<Long> counts =
        partitions
            .mapPartitionsWithIndex(
                (task, values) -> List.of(sink.write(name, task, changelog, values)).iterator(), true)
            .collect();
    written.addAndGet(counts.stream().mapToLong(Long::longValue).sum());
  }

  private static String queryId(Dataset<Row> rows) {
    return rows.sparkSession().sparkContext().getLocalProperty("sql.streaming.queryId");
  }

  /** How many rows were written so far. */
  public long written() {
    return written.get();
  }
}

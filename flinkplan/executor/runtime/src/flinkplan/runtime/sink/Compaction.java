package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Few files instead of many: the rows of a batch that belong to one partition are written by one task.
 *
 * <p>In Flink small files of a checkpoint are merged once it is complete; readers see the merged ones alone.
 *
 * @param isOn whether a table wants it
 * @param first the index of the first partition column
 * @param partitions how many there are
 */
record Compaction(boolean isOn, int first, int partitions) {

    /** Reads {@code {"compacts", "type", "partitions"}}; without the first of them it is off. */
    static Compaction of(JsonNode spec) {
        boolean isOn = spec.path("compacts").asBoolean();
        return new Compaction(isOn, spec.get("type").path("names").size(), spec.path("partitions").size());
    }

    Dataset<Row> of(Dataset<Row> rows) {
        if (!isOn) {
            return rows;
        }
        String[] names = rows.columns();
        Column[] columns = IntStream.range(first, first + partitions)
                .mapToObj(i -> rows.col(names[i]))
                .toArray(Column[]::new);
        return columns.length == 0 ? rows.repartition(1) : rows.repartition(columns);
    }
}

package flinkplan.runtime.pyspark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;

/** What Python makes of frames in one call. */
public final class Frames {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Frames() {}

    /**
     * A frame of some columns.
     *
     * @param columns a JSON array: of a column of {@code rows} its name and the one that it gets, null of one computed
     * @param computed those, in order
     */
    public static Dataset<Row> select(Dataset<Row> rows, String columns, List<Column> computed)
            throws JsonProcessingException {
        Iterator<Column> others = computed.iterator();
        List<Column> selected = new ArrayList<>();
        for (JsonNode column : MAPPER.readTree(columns)) {
            selected.add(column.isNull() ? others.next() : named(rows, column.get(0).asText(), column.get(1).asText()));
        }
        return rows.select(selected.toArray(Column[]::new));
    }

    /** The columns of these names, in a JSON array, all of which are null where a condition is not true. */
    public static Dataset<Row> selectWhere(Dataset<Row> rows, Column condition, String columns)
            throws JsonProcessingException {
        List<Column> selected = new ArrayList<>();
        for (JsonNode column : MAPPER.readTree(columns)) {
            String name = column.asText();
            selected.add(functions.when(condition, rows.col(name)).as(name));
        }
        return rows.select(selected.toArray(Column[]::new));
    }

    /** The names of the columns of a frame, a line each. */
    public static String names(Dataset<Row> rows) {
        return String.join("\n", rows.columns());
    }

    private static Column named(Dataset<Row> rows, String source, String name) {
        Column column = rows.col(source);
        return source.equals(name) ? column : column.as(name);
    }
}

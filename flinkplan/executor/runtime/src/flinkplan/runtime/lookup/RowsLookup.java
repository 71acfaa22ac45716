package flinkplan.runtime.lookup;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/**
 * A table whose rows are all in memory.
 *
 * @param schema that of the rows
 * @param keys the columns of the key, by their places
 */
public record RowsLookup(StructType schema, List<InternalRow> rows, List<Integer> keys) implements Lookup {

    /** The rows of a table that are there now. */
    public static RowsLookup of(Dataset<Row> table, List<Integer> keys) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) table;
        InternalRow[] rows = dataset.queryExecution().executedPlan().executeCollect();
        return new RowsLookup(table.schema(), List.of(rows), List.copyOf(keys));
    }

    /** Keys are Spark's rows of the types of the table's columns, which are compared as they are. */
    @Override
    public Object identity(InternalRow key) {
        return key;
    }

    @Override
    public Session open() {
        UnsafeProjection key = Rows.projection(schema, keys.stream().mapToInt(Integer::intValue).toArray());
        Map<InternalRow, List<InternalRow>> rowsByKey = new HashMap<>();
        for (InternalRow row : rows) {
            rowsByKey.computeIfAbsent(key.apply(row).copy(), any -> new ArrayList<>()).add(row);
        }
        return new Session() {
            @Override
            public List<List<InternalRow>> rows(List<InternalRow> asked) {
                return asked.stream().map(each -> rowsByKey.getOrDefault(each, List.of())).toList();
            }

            @Override
            public void close() {}
        };
    }
}

package flinkplan.runtime.sink;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.when;

import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.planning.SortedRows;
import flinkplan.runtime.row.Hidden;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/** The changes of a batch as they are written. */
public final class Changes {
    private Changes() {}

    /**
     * The changes of a key (without one, of a whole row) together and in their order.
     *
     * @param rows columns, then row kind and other hidden columns
     * @param keys the indexes of the key's columns
     */
    public static Dataset<Row> inOrder(Dataset<Row> rows, List<Integer> keys) {
        boolean single = rows.sparkSession().conf().get("spark.sql.shuffle.partitions").equals("1");
        Dataset<Row> together = single ? rows.coalesce(1) : rows.repartition(keyColumns(rows.schema(), keys));
        return sorted(together);
    }

    /** The changes in their order: by their numbers, then by their places, of one place the retractions first. */
    public static Dataset<Row> sorted(Dataset<Row> rows) {
        Dataset<Row> sorted = rows.sortWithinPartitions(order(rows).toArray(Column[]::new));
        return rows.isStreaming() ? SortedRows.of(sorted) : sorted;
    }

    /** Whether a change takes a row back. */
    static Column retracts() {
        return col(Hidden.KIND).isin((int) Decoder.UPDATE_BEFORE, (int) Decoder.DELETE);
    }

    /** What changes stand in order by. */
    static List<Column> order(Dataset<Row> rows) {
        List<String> present = List.of(rows.columns());
        List<Column> order = new ArrayList<>(List.of(col(Hidden.SEQUENCE)));
        if (present.contains(Hidden.ORDER)) {
            order.add(col(Hidden.ORDER));
        }
        order.add(when(retracts(), 0).otherwise(1));
        if (present.contains(Hidden.TIE)) {
            order.add(col(Hidden.TIE));
        }
        return order;
    }

    private static Column[] keyColumns(StructType schema, List<Integer> keys) {
        IntStream indexes =
                keys.isEmpty()
                        ? IntStream.range(0, schema.fieldIndex(Hidden.KIND)).filter(i -> !hasMap(schema.apply(i).dataType()))
                        : keys.stream().mapToInt(Integer::intValue);
        return indexes.mapToObj(i -> col(schema.apply(i).name())).toArray(Column[]::new);
    }

    /** Maps cannot be hashed. */
    private static boolean hasMap(DataType type) {
        return type.existsRecursively(part -> part instanceof MapType);
    }
}

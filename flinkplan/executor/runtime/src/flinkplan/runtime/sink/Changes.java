package flinkplan.runtime.sink;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.when;

import flinkplan.runtime.Hidden;
import flinkplan.runtime.format.Decoder;
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
     * The changes of a key (without one, of a whole row) together and in their order; those of one row of a source
     * with the retractions first.
     *
     * @param rows columns, then row kind and sequence number
     * @param keys the indexes of the key's columns
     */
    public static Dataset<Row> inOrder(Dataset<Row> rows, List<Integer> keys) {
        boolean single = rows.sparkSession().conf().get("spark.sql.shuffle.partitions").equals("1");
        Column retracts = col(Hidden.KIND).isin((int) Decoder.UPDATE_BEFORE, (int) Decoder.DELETE);
        Dataset<Row> together = single ? rows.coalesce(1) : rows.repartition(keyColumns(rows.schema(), keys));
        return together.sortWithinPartitions(col(Hidden.SEQUENCE), when(retracts, 0).otherwise(1));
    }

    private static Column[] keyColumns(StructType schema, List<Integer> keys) {
        IntStream indexes =
                keys.isEmpty()
                        ? IntStream.range(0, schema.length() - 2).filter(i -> !hasMap(schema.apply(i).dataType()))
                        : keys.stream().mapToInt(Integer::intValue);
        return indexes.mapToObj(i -> col(schema.apply(i).name())).toArray(Column[]::new);
    }

    /** Maps cannot be hashed. */
    private static boolean hasMap(DataType type) {
        return type.existsRecursively(part -> part instanceof MapType);
    }
}

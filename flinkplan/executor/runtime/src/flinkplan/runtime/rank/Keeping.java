package flinkplan.runtime.rank;

import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/**
 * Which rows of a partition must be kept, and what they are found by.
 *
 * @param forgetsOthers whether a row beyond the last rank can never come back: none is taken back, or a row is only
 *     ever updated upwards in the order
 * @param primaryKey the columns of the key by which rows are updated in place, or null: rows are found by content
 */
public record Keeping(boolean forgetsOthers, int[] primaryKey) implements Serializable {
    boolean updatesInPlace() {
        return primaryKey != null;
    }

    private int[] columns(StructType row) {
        return primaryKey != null ? primaryKey : IntStream.range(0, row.length()).toArray();
    }

    StructType key(StructType row) {
        return Rows.select(row, columns(row));
    }

    UnsafeProjection projection(StructType row) {
        return Rows.projection(row, columns(row));
    }
}

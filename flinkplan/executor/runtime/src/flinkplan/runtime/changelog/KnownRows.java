package flinkplan.runtime.changelog;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/** Rows in the order they came, known by an upsert key or, without one, by all of their columns. */
final class KnownRows {
    private final UnsafeProjection identity;
    private final boolean keyed;
    final List<InternalRow> rows = new ArrayList<>();

    /** @param upsertKey the columns that rows are known by, or null: all */
    KnownRows(StructType row, int[] upsertKey) {
        keyed = upsertKey != null;
        identity = Rows.projection(row, keyed ? upsertKey : IntStream.range(0, row.length()).toArray());
    }

    /** Adds a row; it takes the place of one with the same upsert key. */
    void add(InternalRow row) {
        int index = keyed ? find(row) : -1;
        if (index < 0) {
            rows.add(row);
        } else {
            rows.set(index, row);
        }
    }

    /** The place of the first row that is known as {@code target} is, or -1. */
    int find(InternalRow target) {
        InternalRow wanted = identity.apply(target).copy();
        for (int i = 0; i < rows.size(); i++) {
            if (identity.apply(rows.get(i)).equals(wanted)) {
                return i;
            }
        }
        return -1;
    }
}

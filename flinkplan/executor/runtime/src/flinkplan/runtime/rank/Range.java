package flinkplan.runtime.rank;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * The ranks that are kept, counted from 1.
 *
 * @param start the first
 * @param end the last, unless a column says it
 * @param endColumn the column of the row that holds the last, or -1
 * @param endType that column's type
 */
public record Range(long start, long end, int endColumn, DataType endType) implements Serializable {
    long end(InternalRow row) {
        if (endColumn < 0) {
            return end;
        }
        return row.isNullAt(endColumn) ? 0 : ((Number) row.get(endColumn, endType)).longValue();
    }

    /** Whether it is that of one row, the first. */
    boolean isFirst() {
        return endColumn < 0 && start <= 1 && end == 1;
    }

    /** The last rank that any row can have. */
    long most() {
        return endColumn < 0 ? end : Long.MAX_VALUE;
    }

    boolean contains(long rank, InternalRow row) {
        return start <= rank && rank <= end(row);
    }
}

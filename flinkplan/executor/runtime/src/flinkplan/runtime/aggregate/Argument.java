package flinkplan.runtime.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/** The column of a row, and its type, that is an argument of a call. */
public record Argument(int column, DataType type) implements Serializable {
    boolean isNull(InternalRow row) {
        return row.isNullAt(column);
    }

    Object of(InternalRow row) {
        return row.get(column, type);
    }
}

package flinkplan.runtime.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * A call of an aggregate function.
 *
 * @param name what its part of the state is found by when the plan changes
 * @param function what it computes
 * @param filter the BOOLEAN column that must be true, or -1
 */
public record Call(String name, Accumulator function, int filter) implements Serializable {
    boolean accepts(InternalRow row) {
        return filter < 0 || (!row.isNullAt(filter) && row.getBoolean(filter));
    }
}

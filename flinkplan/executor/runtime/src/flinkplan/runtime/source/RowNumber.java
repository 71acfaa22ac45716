package flinkplan.runtime.source;

import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.row.Hidden;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/** Numbers the rows of Spark's own sources as those of files are numbered: by task, then one by one. */
public final class RowNumber implements Serializable {
    private long next;

    private RowNumber() {}

    /** The column of numbers. */
    public static Column column() {
        return MethodCall.stateful(new RowNumber(), "number", DataTypes.LongType, List.of(), List.of());
    }

    /** Called for each row, in order. */
    public long number() {
        return ((long) TaskContext.getPartitionId() << Hidden.PARTITION_SHIFT) + next++;
    }
}

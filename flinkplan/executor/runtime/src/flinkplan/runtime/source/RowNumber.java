package flinkplan.runtime.source;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.row.Hidden;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;

/** Numbers the rows of Spark's own sources as those of files are numbered: by task, then one by one. */
public final class RowNumber implements Serializable {
    private long next;

    private RowNumber() {}

    /** The column of numbers; each task has its own counter, deserialized with its code. */
    public static Column column() {
        Expression counter = new Literal(new RowNumber(), new ObjectType(RowNumber.class));
        return ExpressionUtils.column(
                new Invoke(
                        counter,
                        "number",
                        DataTypes.LongType,
                        asScala(List.<Expression>of()),
                        asScala(List.<AbstractDataType>of()),
                        false,
                        false,
                        false));
    }

    /** Called for each row, in order. */
    public long number() {
        return ((long) TaskContext.getPartitionId() << Hidden.PARTITION_SHIFT) + next++;
    }
}

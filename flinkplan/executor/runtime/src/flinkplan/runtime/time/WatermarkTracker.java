package flinkplan.runtime.time;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Flink's watermark as it moves with the rows of one partition.
 *
 * <p>As Flink's watermark assigner does it: the watermark starts at 1970, never goes back, and is announced behind
 * a row when it has moved by more than the interval. Each task has its own tracker, deserialized with its code.
 */
public final class WatermarkTracker implements Serializable {
    private static final StructType RESULT =
            new StructType().add("before", DataTypes.LongType).add("after", DataTypes.LongType, false);

    private final long interval;
    private long current;
    private long announced;

    private WatermarkTracker(long interval) {
        this.interval = interval;
    }

    /**
     * A column of pairs: {@code before}, the watermark announced before the row (null: none yet), and {@code after},
     * the watermark with the row.
     *
     * @param watermark the row's own watermark (BIGINT, milliseconds), null where it has none
     */
    public static Column track(Column watermark, long interval) {
        Expression tracker = new Literal(new WatermarkTracker(interval), new ObjectType(WatermarkTracker.class));
        List<Expression> arguments = List.of(ExpressionUtils.expression(watermark));
        List<AbstractDataType> inputs = List.of(DataTypes.LongType);
        return ExpressionUtils.column(
                new Invoke(
                        tracker,
                        "advance",
                        RESULT,
                        CollectionConverters.asScala(arguments).toSeq(),
                        CollectionConverters.asScala(inputs).toSeq(),
                        false,
                        false,
                        false));
    }

    /** Called for each row, in order. */
    public InternalRow advance(long watermark) {
        Object before = announced == 0 ? null : announced;
        current = Math.max(current, watermark);
        if (current - announced > interval) {
            announced = current;
        }
        return new GenericInternalRow(new Object[] {before, current});
    }
}

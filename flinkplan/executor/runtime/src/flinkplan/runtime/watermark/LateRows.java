package flinkplan.runtime.watermark;

import flinkplan.runtime.catalyst.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;

/** Counts the rows that an operator drops because they come too late. */
public final class LateRows implements Resumable, Serializable {
    private final LongAccumulator count;
    private final long reached;

    public LateRows(SparkSession session) {
        this(session.sparkContext().longAccumulator("late rows"), Long.MIN_VALUE);
    }

    private LateRows(LongAccumulator count, long reached) {
        this.count = count;
        this.reached = reached;
    }

    @Override
    public LateRows resumed(long batch, long watermark) {
        return new LateRows(count, watermark);
    }

    /** Counts some rows. */
    public void add(long rows) {
        count.add(rows);
    }

    /** How many there were, as far as tasks have ended. */
    public long total() {
        return count.value();
    }

    /** The condition {@code onTime}, which counts a row where it does not hold, but {@code counts} does. */
    public Column filter(Column onTime, Column counts) {
        return condition(List.of(onTime, counts), List.of(DataTypes.BooleanType, DataTypes.BooleanType));
    }

    /**
     * The condition that neither the watermark of a row nor that of its batch has reached a time, which counts a row
     * where it does not hold, but {@code counts} does.
     *
     * @param watermark Flink's when the row arrived (BIGINT, not NULL, milliseconds)
     * @param time as the watermark
     */
    public Column filter(Column watermark, Column time, Column counts) {
        List<DataType> types = List.of(DataTypes.LongType, DataTypes.LongType, DataTypes.BooleanType);
        return condition(List.of(watermark, time, counts), types);
    }

    private Column condition(List<Column> columns, List<DataType> types) {
        return MethodCall.stateful(this, "pass", DataTypes.BooleanType, columns, types);
    }

    /** Called for each row. */
    public boolean pass(boolean onTime, boolean counts) {
        if (!onTime && counts) {
            count.add(1);
        }
        return onTime;
    }

    /** Called for each row. */
    public boolean pass(long watermark, long time, boolean counts) {
        return pass(Math.max(watermark, reached) < time, counts);
    }
}

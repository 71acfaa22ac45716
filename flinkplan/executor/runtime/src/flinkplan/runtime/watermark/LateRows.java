package flinkplan.runtime.watermark;

import flinkplan.runtime.catalyst.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.AccumulatorV2;

/** Counts the rows that an operator drops because they come too late, and by how much the latest of them is late. */
public final class LateRows implements Resumable, Serializable {
    /** By how much a row is late of which that is not known. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    private final Tally tally;
    private final long reached;

    public LateRows(SparkSession session) {
        this(new Tally(), UNKNOWN);
        session.sparkContext().register(tally, "late rows");
    }

    private LateRows(Tally tally, long reached) {
        this.tally = tally;
        this.reached = reached;
    }

    @Override
    public LateRows resumed(long batch, long watermark) {
        return new LateRows(tally, watermark);
    }

    /**
     * Counts some rows.
     *
     * @param by how far the watermark was beyond the last one at which they would have been taken (milliseconds);
     *     {@link #UNKNOWN}
     */
    public void add(long rows, long by) {
        tally.add(rows, by);
    }

    /** How many there were, as far as tasks have ended. */
    public long total() {
        return tally.rows;
    }

    /** The most by which one of them was late (milliseconds); {@link #UNKNOWN} where that is known of none. */
    public long most() {
        return tally.most;
    }

    /** The condition {@code onTime}, which counts a row where it does not hold, but {@code counts} does. */
    public Column filter(Column onTime, Column counts) {
        return condition(List.of(onTime, counts), List.of(DataTypes.BooleanType, DataTypes.BooleanType));
    }

    /**
     * As {@link #filter(Column, Column)}.
     *
     * @param by how late a row is that is not on time (BIGINT, not NULL, milliseconds)
     */
    public Column filterBy(Column onTime, Column by, Column counts) {
        List<DataType> types = List.of(DataTypes.BooleanType, DataTypes.LongType, DataTypes.BooleanType);
        return condition(List.of(onTime, by, counts), types);
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
        return pass(onTime, UNKNOWN, counts);
    }

    /** Called for each row. */
    public boolean pass(boolean onTime, long by, boolean counts) {
        if (!onTime && counts) {
            tally.add(1, by);
        }
        return onTime;
    }

    /** Called for each row. */
    public boolean pass(long watermark, long time, boolean counts) {
        long passed = Math.max(watermark, reached);
        return pass(passed < time, passed - time, counts);
    }

    private static final class Tally extends AccumulatorV2<Long, Long> {
        private long rows;
        private long most = UNKNOWN;

        void add(long rows, long by) {
            this.rows += rows;
            most = rows == 0 ? most : Math.max(most, by);
        }

        @Override
        public void add(Long by) {
            add(1, by);
        }

        @Override
        public Long value() {
            return rows;
        }

        @Override
        public boolean isZero() {
            return rows == 0;
        }

        @Override
        public Tally copy() {
            Tally copy = new Tally();
            copy.merge(this);
            return copy;
        }

        @Override
        public void reset() {
            rows = 0;
            most = UNKNOWN;
        }

        @Override
        public void merge(AccumulatorV2<Long, Long> other) {
            Tally tally = (Tally) other;
            add(tally.rows, tally.most);
        }
    }
}

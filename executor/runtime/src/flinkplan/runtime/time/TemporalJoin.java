package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/**
 * Joins each left row with the right side's version of the left row's time, once the watermark has reached it.
 *
 * <p>A retraction on the right ends the version before it. Of the versions that no later left row can need, only
 * the newest is kept. The input's columns are the key, {@link Side}'s, and the row's time (ms).
 */
public final class TemporalJoin extends TimedKernel {
    private final boolean leftOuter;
    private final Match match;
    private final int timeOrdinal;

    private transient Side side;
    private transient RowBuffer lefts;
    private transient RowBuffer versions;

    public TemporalJoin(StructType input, StructType columns, boolean changelog, boolean leftOuter, Match match) {
        super(input, columns, changelog);
        this.leftOuter = leftOuter;
        this.match = match;
        this.timeOrdinal = input.fieldIndex("__time");
    }

    @Override
    protected void open() {
        side = Side.of(input());
        lefts = buffer("left", input());
        versions = buffer("right", input());
        match.open();
    }

    @Override
    protected void begin(InternalRow key) {
        lefts.begin();
        versions.begin();
        match.begin(key);
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        (side.isRight(row) ? versions : lefts).add(row);
        return row.getLong(timeOrdinal);
    }

    @Override
    protected long fire(long watermark) {
        TreeMap<Long, InternalRow> byTime = new TreeMap<>();
        for (InternalRow version : versions.all()) {
            byTime.put(version.getLong(timeOrdinal), version);
        }
        long next = NEVER;
        List<InternalRow> waiting = new ArrayList<>();
        for (InternalRow left : lefts.all()) {
            long time = left.getLong(timeOrdinal);
            if (time > watermark) {
                waiting.add(left);
                next = Math.min(next, time);
            } else {
                join(left, byTime.floorEntry(time));
            }
        }
        lefts.replace(waiting);
        Long newest = byTime.floorKey(watermark);
        versions.replace(new ArrayList<>((newest == null ? byTime : byTime.tailMap(newest)).values()));
        Long later = byTime.higherKey(watermark);
        return later == null ? next : Math.min(next, later);
    }

    private void join(InternalRow left, Map.Entry<Long, InternalRow> version) {
        InternalRow values = side.values(left);
        InternalRow right =
                version == null || RowKind.retracts(kind(version.getValue())) ? null : side.values(version.getValue());
        if (right != null && match.of(values, right)) {
            emit(kind(left), new JoinedRow(values, right), sequence(left));
        } else if (leftOuter) {
            emit(kind(left), new JoinedRow(values, side.noRight()), sequence(left));
        }
    }

    @Override
    protected void store() {
        lefts.store();
        versions.store();
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Joins each left row with the right side's version of the left row's time, once the watermark has reached it.
 *
 * <p>A retraction on the right ends the version before it. Of the versions that no later left row can need, only
 * the newest is kept. The input's columns are the key, {@link JoinInput}'s, and the row's time (ms).
 */
public final class TemporalJoin extends TimedKernel {
    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Spec spec;
    private final int timeOrdinal;

    private transient JoinInput side;
    private transient TimedRows lefts;
    private transient TimedRows versions;
    private transient long last;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the left rows have kinds
     * @param leftOuter whether left rows without a version are emitted
     */
    public record Spec(StructType columns, boolean changelog, boolean leftOuter, Match match) implements Serializable {}

    public TemporalJoin(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
    }

    @Override
    protected void open() {
        side = JoinInput.of(input());
        lefts = new TimedRows(this, "left", kept(side.ordinal() + 1).add("sequence", DataTypes.LongType, false));
        versions = new TimedRows(this, "right", kept(side.ordinal() + 2));
        spec.match().open();
    }

    private StructType kept(int ordinal) {
        return new StructType()
                .add("row", Rows.struct(input(), ordinal), false)
                .add("kind", DataTypes.ByteType, false);
    }

    @Override
    protected void begin(InternalRow key) {
        lefts.begin(!isWaiting());
        versions.begin(false);
        last = UNKNOWN;
        spec.match().begin(key);
    }

    @Override
    protected long accept(InternalRow input, byte kind, long watermark) {
        long time = input.getLong(timeOrdinal);
        InternalRow row = side.values(input);
        if (side.isRight(input)) {
            versions.put(time, Rows.of(row, kind));
        } else {
            lefts.add(time, Rows.of(row, kind, number(input)));
        }
        return time;
    }

    /** The place of a left row in the order of its key; the numbers of each micro-batch begin anew. */
    private long number(InternalRow input) {
        if (!spec.changelog()) {
            return sequence(input);
        }
        if (last == UNKNOWN) {
            for (List<InternalRow> waiting : lefts.all().values()) {
                last = waiting.stream().mapToLong(left -> left.getLong(2)).reduce(last, Math::max);
            }
        }
        last = Math.max(last + 1, sequence(input));
        return last;
    }

    @Override
    protected long fire(long watermark) {
        TreeMap<Long, List<InternalRow>> waiting = lefts.all();
        List<Joined> joined = new ArrayList<>();
        while (!waiting.isEmpty() && waiting.firstKey() <= watermark) {
            long time = waiting.firstKey();
            InternalRow version = versionAt(time);
            waiting.get(time).forEach(left -> join(left, version, joined));
            lefts.remove(time);
        }
        joined.sort(Comparator.comparingLong(Joined::sequence));
        joined.forEach(row -> emit(row.kind(), row.row(), row.sequence()));
        forgetVersionsBefore(watermark);
        Long later = versions.all().higherKey(watermark);
        return Math.min(waiting.isEmpty() ? NEVER : waiting.firstKey(), later == null ? NEVER : later);
    }

    /** A row that is to come out in the order in which the left rows came. */
    private record Joined(InternalRow row, byte kind, long sequence) {}

    private InternalRow versionAt(long time) {
        Map.Entry<Long, List<InternalRow>> entry = versions.all().floorEntry(time);
        InternalRow version = entry == null ? null : entry.getValue().get(0);
        return version == null || RowKind.retracts(version.getByte(1))
                ? null
                : version.getStruct(0, side.rightWidth());
    }

    private void join(InternalRow kept, InternalRow version, List<Joined> joined) {
        InternalRow left = kept.getStruct(0, side.leftWidth());
        InternalRow right = version != null && spec.match().of(left, version) ? version : null;
        if (right != null || spec.leftOuter()) {
            InternalRow row = new JoinedRow(left, right == null ? side.noRight() : right);
            joined.add(new Joined(row, kept.getByte(1), kept.getLong(2)));
        }
    }

    private void forgetVersionsBefore(long watermark) {
        Long newest = versions.all().floorKey(watermark);
        while (newest != null && versions.all().firstKey() < newest) {
            versions.remove(versions.all().firstKey());
        }
    }

    @Override
    protected void store() {
        lefts.flush();
        versions.flush();
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.join.JoinKind;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Joins rows whose times are near: left minus right within bounds.
 *
 * <p>A row is kept until the watermark rules out that a match still comes; if an outer join has found none by then,
 * the row is emitted alone. The input's columns are the key, {@link JoinInput}'s, and the row's time (ms).
 */
public final class IntervalJoin extends TimedKernel {
    private final Spec spec;
    private final int timeOrdinal;

    private transient JoinInput side;
    private transient Cache lefts;
    private transient Cache rights;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param lower how much later than a right row (ms) a left one is at least that matches it
     * @param upper and at most
     */
    public record Spec(StructType columns, long lower, long upper, JoinKind kind, Match match)
            implements Serializable {}

    public IntervalJoin(StructType input, Spec spec) {
        super(input, spec.columns, false);
        this.spec = spec;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
    }

    /** The rows of one side: each with whether it has found a match. */
    private final class Cache {
        final boolean right;
        final boolean outer;
        final long wait;
        final int width;
        final TimedRows rows;

        /** {@code wait}: how far the watermark must be beyond a row until no match for it can come. */
        Cache(String name, boolean right, boolean outer, long wait, StructType row) {
            this.right = right;
            this.outer = outer;
            this.wait = wait;
            this.width = row.length();
            this.rows = new TimedRows(IntervalJoin.this, name, new StructType()
                    .add("row", row, false)
                    .add("matched", DataTypes.BooleanType, false));
        }

        long expiry(long time) {
            return time + wait + 1;
        }

        /** Emits {@code row} of the other side with the matches from one time to another; whether there are any. */
        boolean join(InternalRow row, long from, long to, long sequence) {
            if (from > to) {
                return false;
            }
            boolean any = false;
            for (Map.Entry<Long, List<InternalRow>> entry :
                    rows.all().subMap(from, true, to, true).entrySet()) {
                for (InternalRow kept : entry.getValue()) {
                    InternalRow other = kept.getStruct(0, width);
                    InternalRow left = right ? row : other;
                    InternalRow matching = right ? other : row;
                    if (spec.match().of(left, matching)) {
                        any = true;
                        emit(RowKind.INSERT, new JoinedRow(left, matching), sequence);
                        if (outer && !kept.getBoolean(1)) {
                            kept.setBoolean(1, true);
                            rows.touch(entry.getKey());
                        }
                    }
                }
            }
            return any;
        }

        /** Drops the rows that no match can come for; when the next of them ends. */
        long expire(long watermark) {
            while (!rows.all().isEmpty()) {
                long time = rows.all().firstKey();
                if (expiry(time) > watermark) {
                    return expiry(time);
                }
                if (outer) {
                    for (InternalRow kept : rows.all().get(time)) {
                        if (!kept.getBoolean(1)) {
                            emitAlone(kept.getStruct(0, width), expiry(time) + SparkTime.SHIFT);
                        }
                    }
                }
                rows.remove(time);
            }
            return NEVER;
        }

        void emitAlone(InternalRow row, long sequence) {
            InternalRow padded = right ? new JoinedRow(side.noLeft(), row) : new JoinedRow(row, side.noRight());
            emit(RowKind.INSERT, padded, sequence);
        }
    }

    @Override
    protected void open() {
        side = JoinInput.of(input());
        int values = side.ordinal() + 1;
        lefts = new Cache("left", false, spec.kind().keepsLeft(), -spec.lower(), Rows.struct(input(), values));
        rights = new Cache("right", true, spec.kind().keepsRight(), spec.upper(), Rows.struct(input(), values + 1));
        spec.match().open();
    }

    @Override
    protected void begin(InternalRow key) {
        lefts.rows.begin(!isWaiting());
        rights.rows.begin(!isWaiting());
        spec.match().begin(key);
    }

    @Override
    protected long accept(InternalRow input, byte kind, long watermark) {
        InternalRow row = side.values(input);
        long time = input.getLong(timeOrdinal);
        boolean right = side.isRight(input);
        Cache own = right ? rights : lefts;
        boolean matched = right
                ? lefts.join(row, time + spec.lower(), time + spec.upper(), sequence(input))
                : rights.join(row, time - spec.upper(), time - spec.lower(), sequence(input));
        if (own.expiry(time) <= watermark + 1) {
            if (own.outer && !matched) {
                own.emitAlone(row, sequence(input));
            }
            return NEVER;
        }
        own.rows.add(time, Rows.of(row, matched));
        return own.expiry(time);
    }

    @Override
    protected long fire(long watermark) {
        return Math.min(lefts.expire(watermark), rights.expire(watermark));
    }

    @Override
    protected void store() {
        lefts.rows.flush();
        rights.rows.flush();
    }
}

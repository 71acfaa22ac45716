package flinkplan.runtime.time;

import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Joins rows whose times are near: left minus right within bounds.
 *
 * <p>A row is kept until the watermark rules out that a match still comes; if an outer join has found none by then,
 * the row is emitted alone. The input's columns are the key, {@link Side}'s, and the row's time (ms).
 */
public final class IntervalJoin extends TimedKernel {
    private final long lower;
    private final long upper;
    private final boolean leftOuter;
    private final boolean rightOuter;
    private final Match match;
    private final int timeOrdinal;

    private transient Side side;
    private transient RowBuffer lefts;
    private transient RowBuffer rights;

    public IntervalJoin(
            StructType input,
            StructType columns,
            long lower,
            long upper,
            boolean leftOuter,
            boolean rightOuter,
            Match match) {
        super(input, columns, false);
        this.lower = lower;
        this.upper = upper;
        this.leftOuter = leftOuter;
        this.rightOuter = rightOuter;
        this.match = match;
        this.timeOrdinal = input.fieldIndex("__time");
    }

    private static final String MATCHED = "matched";

    @Override
    protected void open() {
        StructType kept = new StructType()
                .add("row", input(), false)
                .add(MATCHED, DataTypes.BooleanType, false);
        lefts = buffer("left", kept);
        rights = buffer("right", kept);
        side = Side.of(input());
        match.open();
    }

    @Override
    protected void begin(InternalRow key) {
        lefts.begin();
        rights.begin();
        match.begin(key);
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        boolean right = side.isRight(row);
        boolean matched = join(row, right);
        boolean outer = right ? rightOuter : leftOuter;
        long lasts = expires(row, right);
        if (lasts <= watermark) {
            if (outer && !matched) {
                emitAlone(row, right);
            }
            return NEVER;
        }
        (right ? rights : lefts).add(Rows.of(row, matched));
        return lasts;
    }

    /** Emits a new row with the other side's rows that it matches; whether there are any. */
    private boolean join(InternalRow row, boolean right) {
        RowBuffer others = right ? lefts : rights;
        List<InternalRow> all = others.all();
        boolean any = false;
        boolean changed = false;
        for (int i = 0; i < all.size(); i++) {
            InternalRow entry = all.get(i);
            InternalRow other = entry.getStruct(0, input().length());
            InternalRow left = right ? other : row;
            InternalRow matching = right ? row : other;
            long distance = left.getLong(timeOrdinal) - matching.getLong(timeOrdinal);
            if (distance < lower || distance > upper || !match.of(side.values(left), side.values(matching))) {
                continue;
            }
            any = true;
            emit(RowKind.INSERT, new JoinedRow(side.values(left), side.values(matching)), sequence(row));
            if (!entry.getBoolean(1) && (right ? leftOuter : rightOuter)) {
                all.set(i, Rows.of(other, true));
                changed = true;
            }
        }
        if (changed) {
            others.replace(all);
        }
        return any;
    }

    /** The watermark from which on no later row of the other side can match. */
    private long expires(InternalRow row, boolean right) {
        return row.getLong(timeOrdinal) + Math.max(right ? upper : -lower, 0) + 1;
    }

    private void emitAlone(InternalRow row, boolean right) {
        InternalRow values = side.values(row);
        InternalRow padded =
                right ? new JoinedRow(side.noLeft(), values) : new JoinedRow(values, side.noRight());
        emit(RowKind.INSERT, padded, sequence(row));
    }

    @Override
    protected long fire(long watermark) {
        return Math.min(expire(lefts, false, watermark), expire(rights, true, watermark));
    }

    private long expire(RowBuffer buffer, boolean right, long watermark) {
        long next = NEVER;
        List<InternalRow> kept = new ArrayList<>();
        for (InternalRow entry : buffer.all()) {
            InternalRow row = entry.getStruct(0, input().length());
            long lasts = expires(row, right);
            if (lasts > watermark) {
                kept.add(entry);
                next = Math.min(next, lasts);
            } else if ((right ? rightOuter : leftOuter) && !entry.getBoolean(1)) {
                emitAlone(row, right);
            }
        }
        if (kept.size() < buffer.all().size()) {
            buffer.replace(kept);
        }
        return next;
    }

    @Override
    protected void store() {
        lefts.store();
        rights.store();
    }
}

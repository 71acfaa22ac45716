package flinkplan.runtime.time;

import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * Aggregates each window's rows: the key (unless it is a constant), the results, start and end.
 *
 * <p>Of a window its accumulators are kept, and what it has emitted where it may emit again: of all open windows of a
 * key in one value, and where they were once many, by window in a map until all have closed.
 */
public final class WindowAggregate extends TimedKernel {
    private static final StructType BOUNDS = new StructType()
            .add("end", DataTypes.LongType, false)
            .add("start", DataTypes.LongType, false);
    private static final long UNSET = -1;
    /** Up to how many windows are kept in one value, all of which is written when one of them changes. */
    private static final int FEW = 32;
    private static final StructType HEAD = new StructType()
            .add("count", DataTypes.LongType, false)
            .add("fired", DataTypes.BooleanType, false)
            .add("next", DataTypes.LongType, false);
    private static final StructType PACKED = new StructType().add("windows", DataTypes.BinaryType, false);
    private static final int WIDTH = HEAD.length() + 2;

    private final Spec spec;

    private transient WindowStates states;
    private transient ValueState<InternalRow> few;
    private transient UnsafeProjection packed;
    private transient UnsafeRow fewRead;
    private transient MapState<InternalRow, InternalRow> many;
    private transient UnsafeProjection binary;
    private transient TreeMap<Bounds, Window> windows;
    private transient boolean complete;
    private transient boolean areFew;
    private transient InternalRow key;
    private transient long sequence;

    private record Bounds(long end, long start) implements Comparable<Bounds> {
        @Override
        public int compareTo(Bounds other) {
            return end != other.end ? Long.compare(end, other.end) : Long.compare(start, other.start);
        }
    }

    /** A window: what is kept of it, and rows that are not part of that yet. */
    private static final class Window {
        final List<InternalRow> rows = new ArrayList<>();
        long count;
        boolean fired;
        long next = UNSET;
        InternalRow emitted;
        InternalRow accumulators;
        boolean emits;
        boolean changed;
    }

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param results the schema of the aggregation's results
     * @param keyed whether the key is emitted
     * @param count the column of how many rows an input row stands for, or -1: each for itself
     * @param last the column of whether a row comes with the last of its windows, or -1: each row comes once
     */
    public record Spec(
            StructType columns,
            StructType results,
            WindowSpan span,
            Aggregation aggregation,
            boolean keyed,
            Emission emission,
            int count,
            int last)
            implements Serializable {}

    public WindowAggregate(StructType input, Spec spec) {
        super(input, spec.columns, spec.emission.updates());
        this.spec = spec;
    }

    @Override
    protected void open() {
        states = new WindowStates(this);
        spec.aggregation().open(states);
        StructType kept = HEAD.add("emitted", spec.results()).add("accumulators", spec.aggregation().schema());
        StructType all = new StructType()
                .add("due", DataTypes.LongType, false)
                .add("windows", DataTypes.createArrayType(BOUNDS.add("window", kept, false), false), false);
        few = valueState("windows-few", PACKED, 0);
        packed = UnsafeProjection.create(all);
        many = mapState("windows", BOUNDS, kept, 0);
        binary = UnsafeProjection.create(spec.results());
    }

    /** What a call has accumulated over parts of slices, of a column with an array of these. */
    public Column mergedParts(int call, Column parts) {
        return spec.aggregation().mergedParts(call, parts);
    }

    @Override
    protected void begin(InternalRow key) {
        this.key = key;
        windows = new TreeMap<>();
        sequence = Long.MIN_VALUE;
        areFew = !isWaiting() || fewRead != null;
        complete = areFew;
        if (fewRead != null) {
            readFew(FewWindows.windows(fewRead));
        }
    }

    /** Few windows say themselves when the key is due. */
    @Override
    protected long readDue() {
        InternalRow value = few.get();
        fewRead = null;
        if (value == null) {
            return super.readDue();
        }
        fewRead = FewWindows.read(value.getBinary(0));
        return fewRead.getLong(0);
    }

    @Override
    protected void writeDue(long due) {
        if (!areFew) {
            super.writeDue(due);
        }
    }

    private void readFew(ArrayData kept) {
        for (int i = 0; i < kept.numElements(); i++) {
            InternalRow entry = kept.getStruct(i, 3);
            Window window = read(entry.getStruct(2, WIDTH));
            windows.put(new Bounds(entry.getLong(0), entry.getLong(1)), window);
        }
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        Bounds bounds = new Bounds(spec.span().end(row), spec.span().start(row));
        long due = spec.span().fires(bounds.end);
        if (expiry(due) <= watermark) {
            return drop(watermark - expiry(due));
        }
        sequence = Math.max(sequence, sequence(row));
        Window window = windows.computeIfAbsent(bounds, this::load);
        window.rows.add(row);
        if (due <= watermark && !window.fired) {
            emitSoon(bounds, window, 0);
        } else {
            emitSoon(bounds, window, window.fired ? spec.emission().late() : spec.emission().early());
        }
        return window.fired ? expiry(due) : due;
    }

    private long expiry(long due) {
        return due + spec.emission().lateness();
    }

    private Window load(Bounds bounds) {
        InternalRow stored = complete ? null : many.getValue(Rows.of(bounds.end, bounds.start));
        return stored == null ? new Window() : read(stored);
    }

    private Window read(InternalRow stored) {
        Window window = new Window();
        window.count = stored.getLong(0);
        window.fired = stored.getBoolean(1);
        window.next = stored.getLong(2);
        window.emitted = stored.isNullAt(3) ? null : stored.getStruct(3, spec.results().length());
        window.accumulators = stored.getStruct(4, spec.aggregation().schema().length());
        return window;
    }

    private static InternalRow stored(Window window) {
        return Rows.of(window.count, window.fired, window.next, window.emitted, window.accumulators);
    }

    private void emitSoon(Bounds bounds, Window window, long delay) {
        if (delay == 0 && !spec.emission().folds()) {
            emitChange(bounds, window);
        } else if (delay == 0) {
            window.emits = true;
        } else if (delay > 0 && window.next == UNSET) {
            window.next = clock() + delay;
        }
    }

    @Override
    protected long fire(long watermark) {
        long next = NEVER;
        for (var entries = all().entrySet().iterator(); entries.hasNext(); ) {
            var entry = entries.next();
            Bounds bounds = entry.getKey();
            Window window = entry.getValue();
            long due = spec.span().fires(bounds.end);
            if (due <= watermark && !window.fired) {
                emitChange(bounds, window);
                window.fired = true;
                window.next = UNSET;
            }
            if (expiry(due) <= watermark) {
                if (window.emits) {
                    emitChange(bounds, window);
                }
                remove(bounds);
                entries.remove();
            } else {
                next = Math.min(next, window.fired ? expiry(due) : due);
            }
        }
        return next;
    }

    private TreeMap<Bounds, Window> all() {
        if (!complete) {
            complete = true;
            for (scala.collection.Iterator<Tuple2<InternalRow, InternalRow>> stored = many.iterator();
                    stored.hasNext(); ) {
                Tuple2<InternalRow, InternalRow> next = stored.next();
                Bounds bounds = new Bounds(next._1().getLong(0), next._1().getLong(1));
                windows.computeIfAbsent(bounds, absent -> read(next._2()));
            }
        }
        return windows;
    }

    /** Emits how a window's results differ from those that it has emitted. */
    private void emitChange(Bounds bounds, Window window) {
        window.emits = false;
        fold(bounds, window);
        InternalRow before = window.emitted;
        InternalRow after = window.count > 0 ? binary.apply(spec.aggregation().values()).copy() : null;
        if (!spec.emission().updates()) {
            if (after != null) {
                emit(RowKind.INSERT, output(after, bounds), bounds.end);
            }
            return;
        }
        window.emitted = after;
        if (before == null && after != null) {
            emit(RowKind.INSERT, output(after, bounds), next());
        } else if (before != null && after == null) {
            emit(RowKind.DELETE, output(before, bounds), next());
        } else if (after != null && !after.equals(before)) {
            emit(RowKind.UPDATE_BEFORE, output(before, bounds), next());
            emit(RowKind.UPDATE_AFTER, output(after, bounds), next());
        }
    }

    /** Makes a window's new rows part of its accumulators, on which the aggregation then stands. */
    private void fold(Bounds bounds, Window window) {
        states.turnTo(bounds.start, bounds.end);
        if (window.accumulators == null) {
            spec.aggregation().begin();
        } else {
            spec.aggregation().begin(window.accumulators, 0);
        }
        for (InternalRow row : window.rows) {
            if (RowKind.retracts(kind(row))) {
                spec.aggregation().retract(row);
                window.count--;
            } else {
                spec.aggregation().add(row);
                window.count += rows(row);
            }
        }
        window.rows.clear();
        window.accumulators = spec.aggregation().save();
        window.changed = true;
    }

    private long rows(InternalRow row) {
        return spec.count() < 0 ? 1 : row.getLong(spec.count());
    }

    /** A row that is too late for the last of its windows is too late for all. */
    @Override
    protected long lateRows(InternalRow row) {
        return spec.last() < 0 || row.getBoolean(spec.last()) ? rows(row) : 0;
    }

    private InternalRow output(InternalRow values, Bounds bounds) {
        InternalRow row = new JoinedRow(values, Rows.of(bounds.start, bounds.end));
        return spec.keyed() ? new JoinedRow(key, row) : row;
    }

    /** The place in the order of the output: behind what was emitted, not before the row that causes it. */
    private long next() {
        return ++sequence;
    }

    private void remove(Bounds bounds) {
        states.turnTo(bounds.start, bounds.end);
        spec.aggregation().clear();
        if (!areFew) {
            many.removeKey(Rows.of(bounds.end, bounds.start));
        }
    }

    @Override
    protected void store() {
        for (var entry : windows.entrySet()) {
            Bounds bounds = entry.getKey();
            Window window = entry.getValue();
            boolean overdue = window.next != UNSET && window.next <= clock();
            if (window.emits || overdue) {
                window.next = UNSET;
                emitChange(bounds, window);
            }
            if (!window.rows.isEmpty()) {
                fold(bounds, window);
            }
        }
        if (areFew && windows.size() > FEW) {
            areFew = false;
            few.clear();
            super.writeDue(due());
            writeMany(true);
        } else if (!areFew) {
            writeMany(false);
        } else if (!windows.isEmpty()) {
            writeFew();
        } else if (fewRead != null) {
            few.clear();
        }
    }

    private void writeFew() {
        Object[] kept = windows.entrySet().stream()
                .map(entry -> Rows.of(entry.getKey().end, entry.getKey().start, stored(entry.getValue())))
                .toArray();
        few.update(Rows.of(packed.apply(Rows.of(due(), new GenericArrayData(kept))).copy().getBytes()));
    }

    /** Writes the windows that have changed, or all of them. */
    private void writeMany(boolean all) {
        windows.forEach((bounds, window) -> {
            if (all || window.changed) {
                many.updateValue(Rows.of(bounds.end, bounds.start), stored(window));
            }
        });
    }
}

package flinkplan.runtime.python;

import flinkplan.runtime.row.Rows;
import flinkplan.runtime.time.TimedKernel;
import flinkplan.runtime.time.TimedRows;
import flinkplan.runtime.watermark.LateRows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A process table function in Python in event time: with timers, and with tables in the order of time.
 *
 * <p>Its rows are keyed by the number of a key group, so that many keys are worked on in one go. Which timers there
 * will be only Python knows, so it is told of each watermark; otherwise all is done as {@code TimedFunction} does it.
 */
public final class PythonTimedFunction extends TimedKernel {
    private static final long serialVersionUID = 1;

    /** Watermarks from here on are those of the end of input. */
    private static final long END = 900_000_000_000_000L;

    private final FunctionCalls.Spec spec;
    private transient FunctionCalls calls;
    private transient TimedRows[] sorted;
    private transient StructType kept;
    private transient long stored;
    private transient long number;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds
     */
    public record Spec(StructType columns, boolean changelog, FunctionCalls.Spec function) implements Serializable {}

    public PythonTimedFunction(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec.function;
    }

    @Override
    protected void open() {
        calls = new FunctionCalls(this, input(), spec, true);
        sorted = new TimedRows[spec.sorts().length];
        kept = new StructType();
        for (int i = 0; i < calls.needed(); i++) {
            kept = kept.add(input().apply(i));
        }
        StructType entry = new StructType().add("row", kept, false).add("kind", DataTypes.ByteType, false);
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = spec.sorts()[i] ? new TimedRows(this, "sorted" + i, entry) : null;
        }
    }

    @Override
    protected void begin(InternalRow group) {
        number = 0;
        stored = due();
        calls.begin(clock());
        for (TimedRows rows : sorted) {
            if (rows != null) {
                rows.begin(!isWaiting());
            }
        }
    }

    /** Rows and timers of a key change its state in the order of their times. */
    @Override
    protected boolean lateRowsDependOnEmitted() {
        return true;
    }

    private static Long told(long watermark) {
        return watermark >= END ? Long.valueOf(Long.MAX_VALUE) : watermark <= -SparkTime.SHIFT ? null : watermark;
    }

    @Override
    protected long accept(InternalRow row, byte kind, long reached) {
        number = Math.max(number, sequence(row));
        int table = calls.table(row);
        if (sorted[table] == null) {
            // what is set too late waits for the next watermark
            long due = reached == Long.MIN_VALUE ? reached : reached + 1;
            calls.eval(row, kind, told(reached), due, reached, number, 0);
            return Long.MIN_VALUE;
        }
        Long time = calls.sortedBy(row);
        if (time == null || time <= reached) {
            return drop(time == null ? LateRows.UNKNOWN : reached - time);
        }
        sorted[table].add(time, Rows.of(columns(row), kind));
        return Long.MIN_VALUE;
    }

    @Override
    protected long fire(long reached) {
        if (reached >= stored) {
            calls.wake(reached, told(reached), number);
        }
        for (long time = earliest(); time <= reached && time != NEVER; time = earliest()) {
            calls.fire(time - 1, told(reached), number);
            for (int table = 0; table < sorted.length; table++) {
                if (sorted[table] != null && sorted[table].all().containsKey(time)) {
                    takeSorted(table, time, reached);
                }
            }
        }
        calls.fire(reached, told(reached), number);
        return NEVER;
    }

    private void takeSorted(int table, long time, long reached) {
        List<InternalRow> rows = new ArrayList<>(sorted[table].all().get(time));
        if (spec.orders()[table] != null) {
            Comparator<InternalRow> order =
                    (a, b) -> spec.orders()[table].compare(calls.values(a), calls.values(b));
            rows.sort(Comparator.comparing(this::keptRow, order));
        }
        sorted[table].remove(time);
        for (InternalRow row : rows) {
            calls.eval(keptRow(row), row.getByte(1), told(reached), time, time - 1, number, 0);
        }
    }

    /** The time of the first sorted row. */
    private long earliest() {
        long earliest = NEVER;
        for (TimedRows rows : sorted) {
            if (rows != null && !rows.all().isEmpty()) {
                earliest = Math.min(earliest, rows.all().firstKey());
            }
        }
        return earliest;
    }

    private InternalRow columns(InternalRow row) {
        InternalRow copy = row.copy();
        Object[] values = new Object[kept.length()];
        for (int i = 0; i < values.length; i++) {
            values[i] = copy.isNullAt(i) ? null : copy.get(i, kept.apply(i).dataType());
        }
        return new GenericInternalRow(values);
    }

    private InternalRow keptRow(InternalRow entry) {
        return entry.getStruct(0, kept.length());
    }

    @Override
    public boolean numbersByTime() {
        return spec.emitsTime();
    }

    @Override
    protected void store() {
        long first = calls.end(this::take);
        stored = Math.min(first, calls.knowsAllTimers() ? NEVER : stored);
        for (TimedRows rows : sorted) {
            if (rows != null) {
                rows.flush();
            }
        }
    }

    private void take(byte kind, InternalRow row, long sequence, long place, int nth, int count, long behind) {
        // what follows takes rows in the order of the watermarks behind which they are emitted
        long at = Math.max(behind, -SparkTime.SHIFT) + SparkTime.SHIFT;
        emit(kind, row, spec.emitsTime() ? at : sequence);
    }

    /** The timers that there are now, and rows that wait for their turn. */
    @Override
    protected long settled(long due) {
        return Math.min(due, Math.min(stored, earliest()));
    }

    @Override
    public void close() {
        calls.release();
        super.close();
    }
}

package flinkplan.runtime.python;

import flinkplan.runtime.process.SortedTables;
import flinkplan.runtime.time.TimedKernel;
import flinkplan.runtime.watermark.LateRows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
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
    private transient SortedTables sorted;
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
        sorted = new SortedTables(this, input(), spec.sorts(), spec.orders(), calls.needed(), calls::values);
    }

    @Override
    protected void begin(InternalRow group) {
        number = 0;
        stored = due();
        calls.begin(clock());
        sorted.begin(!isWaiting());
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
        if (!sorted.sorts(table)) {
            // what is set too late waits for the next watermark
            long due = reached == Long.MIN_VALUE ? reached : reached + 1;
            calls.eval(row, kind, told(reached), due, reached, number, 0);
            return Long.MIN_VALUE;
        }
        Long time = calls.sortedBy(row);
        if (time == null || time <= reached) {
            return drop(time == null ? LateRows.UNKNOWN : reached - time);
        }
        sorted.add(table, time, row, kind);
        return Long.MIN_VALUE;
    }

    @Override
    protected long fire(long reached) {
        if (reached >= stored) {
            calls.wake(reached, told(reached), number);
        }
        for (long time = earliest(); time <= reached && time != NEVER; time = earliest()) {
            long due = time;
            calls.fire(due - 1, told(reached), number);
            sorted.take(due, (row, kind) -> calls.eval(row, kind, told(reached), due, due - 1, number, 0));
        }
        calls.fire(reached, told(reached), number);
        return NEVER;
    }

    /** The time of the first sorted row. */
    private long earliest() {
        return sorted.earliest().orElse(NEVER);
    }

    @Override
    public boolean numbersByTime() {
        return spec.emitsTime();
    }

    @Override
    protected void store() {
        long first = calls.end(this::take);
        stored = Math.min(first, calls.knowsAllTimers() ? NEVER : stored);
        sorted.flush();
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

package flinkplan.runtime.process;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.time.TimedKernel;
import flinkplan.runtime.watermark.LateRows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * A process table function in event time: with timers, and with tables in the order of time.
 *
 * <p>When the watermark moves, the rows of sorted tables and the timers that it has reached come in the order of their
 * times: Flink's watermark moves with each row, also with those of other keys, so that it reaches one after the other.
 */
public final class TimedFunction extends TimedKernel {
    /** Watermarks from here on are those of the end of input. */
    private static final long END = 900_000_000_000_000L;

    private final FunctionHost.Spec spec;
    private transient FunctionHost host;
    private transient Timers timers;
    private transient SortedTables sorted;
    private transient long watermark;
    private transient long nextDue;
    private transient long number;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds
     */
    public record Spec(StructType columns, boolean changelog, FunctionHost.Spec function) implements Serializable {}

    public TimedFunction(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec.function;
    }

    @Override
    protected void open() {
        host = new Host();
        timers = new Timers(valueState("timers", Timers.SCHEMA, 0));
        int hidden = input().fieldIndex(Hidden.TIME) + FunctionHost.ROWS + spec.sorts().length;
        sorted = new SortedTables(this, input(), spec.sorts(), spec.orders(), hidden, host::values);
    }

    private final class Host extends FunctionHost {
        Host() {
            super(TimedFunction.this, TimedFunction.this.input(), TimedFunction.this.spec, true, TimedFunction.this::clock);
        }

        @Override
        void take(byte kind, InternalRow row) {
            // what follows takes rows in the order of the watermarks behind which they are emitted
            boolean byTime = TimedFunction.this.spec.emitsTime();
            long at = Math.max(behind(), -SparkTime.SHIFT) + SparkTime.SHIFT;
            TimedFunction.this.emit(kind, row, byTime ? at : number);
        }

        @Override
        public long watermark() {
            return watermark >= END ? Long.MAX_VALUE : watermark <= -SparkTime.SHIFT ? Long.MIN_VALUE : watermark;
        }

        @Override
        public void register(String name, long time) {
            timers.register(name, time, Math.max(time, nextDue));
        }

        @Override
        public void unregister(String name) {
            timers.unregister(name);
        }

        @Override
        public void unregister(long time) {
            timers.unregister(time);
        }

        @Override
        public void unregisterAll() {
            timers.clear();
        }
    }

    @Override
    protected void begin(InternalRow key) {
        number = 0;
        host.begin(key);
        timers.begin(!isWaiting());
        sorted.begin(!isWaiting());
    }

    /** Rows and timers of a key change its state in the order of their times. */
    @Override
    protected boolean lateRowsDependOnEmitted() {
        return true;
    }

    @Override
    protected long accept(InternalRow row, byte kind, long reached) {
        number = Math.max(number, sequence(row));
        watermark = reached;
        nextDue = reached == Long.MIN_VALUE ? reached : reached + 1; // what is set too late waits for the next watermark
        int table = host.table(row);
        if (!sorted.sorts(table)) {
            host.eval(row, kind, reached);
            return next(reached);
        }
        Long time = host.sortedBy(row);
        if (time == null || time <= reached) {
            return drop(time == null ? LateRows.UNKNOWN : reached - time);
        }
        sorted.add(table, time, row, kind);
        return time;
    }

    @Override
    protected long fire(long reached) {
        watermark = reached;
        for (long time = earliest(); time <= reached && time != NEVER; time = earliest()) {
            nextDue = time;
            long passed = time - 1;
            sorted.take(time, (row, kind) -> host.eval(row, kind, passed));
            for (Timers.Timer timer = timers.take(time); timer != null; timer = timers.take(time)) {
                host.onTimer(timer.name(), timer.time(), time);
            }
        }
        return next(reached);
    }

    /** The time of the first sorted row or timer. */
    private long earliest() {
        return Math.min(timers.due(NEVER), sorted.earliest().orElse(NEVER));
    }

    /** When something is due next; a timer that was set behind the watermark fires when that moves again. */
    private long next(long reached) {
        long due = earliest();
        return due == NEVER ? NEVER : dueWhenLate(due, reached);
    }

    @Override
    public boolean numbersByTime() {
        return spec.emitsTime();
    }

    @Override
    protected void store() {
        host.end();
        timers.end();
        sorted.flush();
    }
}

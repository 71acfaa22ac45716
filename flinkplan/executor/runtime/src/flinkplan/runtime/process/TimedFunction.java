package flinkplan.runtime.process;

import flinkplan.runtime.row.Hidden;
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
    private transient TimedRows[] sorted;
    private transient StructType kept;
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
        sorted = new TimedRows[spec.sorts().length];
        kept = whole();
        StructType entry = new StructType().add("row", kept, false).add("kind", DataTypes.ByteType, false);
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = spec.sorts()[i] ? new TimedRows(this, "sorted" + i, entry) : null;
        }
    }

    /** The columns of a row that its call needs. */
    private StructType whole() {
        int hidden = input().fieldIndex(Hidden.TIME) + FunctionHost.ROWS + spec.sorts().length;
        StructType columns = new StructType();
        for (int i = 0; i < hidden; i++) {
            columns = columns.add(input().apply(i));
        }
        return columns;
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

    @Override
    protected long accept(InternalRow row, byte kind, long reached) {
        number = Math.max(number, sequence(row));
        watermark = reached;
        nextDue = reached == Long.MIN_VALUE ? reached : reached + 1; // what is set too late waits for the next watermark
        int table = host.table(row);
        if (sorted[table] == null) {
            host.eval(row, kind, reached);
            return next(reached);
        }
        Long time = host.sortedBy(row);
        if (time == null || time <= reached) {
            return drop(time == null ? LateRows.UNKNOWN : reached - time);
        }
        sorted[table].add(time, Rows.of(columns(row), kind));
        return time;
    }

    @Override
    protected long fire(long reached) {
        watermark = reached;
        for (long time = earliest(); time <= reached && time != NEVER; time = earliest()) {
            nextDue = time;
            for (int table = 0; table < sorted.length; table++) {
                if (sorted[table] != null && sorted[table].all().containsKey(time)) {
                    takeSorted(table, time);
                }
            }
            for (Timers.Timer timer = timers.take(time); timer != null; timer = timers.take(time)) {
                host.onTimer(timer.name(), timer.time(), time);
            }
        }
        return next(reached);
    }

    private void takeSorted(int table, long time) {
        List<InternalRow> rows = new ArrayList<>(sorted[table].all().get(time));
        if (spec.orders()[table] != null) {
            rows.sort(Comparator.comparing(this::keptRow, (a, b) -> spec.orders()[table].compare(values(a), values(b))));
        }
        sorted[table].remove(time);
        for (InternalRow row : rows) {
            host.eval(keptRow(row), row.getByte(1), time - 1);
        }
    }

    /** The time of the first sorted row or timer. */
    private long earliest() {
        long earliest = timers.due(NEVER);
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
        return entry.getStruct(0, this.kept.length());
    }

    private InternalRow values(InternalRow row) {
        return host.values(row);
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
        for (TimedRows rows : sorted) {
            if (rows != null) {
                rows.flush();
            }
        }
    }
}

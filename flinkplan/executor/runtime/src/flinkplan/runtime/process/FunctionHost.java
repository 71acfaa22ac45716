package flinkplan.runtime.process;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.udf.Description;
import flinkplan.runtime.udf.ProcessCall;
import flinkplan.runtime.udf.ProcessHost;
import java.io.Serializable;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** A function as kernels call it: for the key at work, with its states. */
public abstract class FunctionHost implements ProcessHost {
    private static final long MICROS = 1000;
    /** Where the rows of tables begin, behind the column of the time. */
    static final int ROWS = 5;

    /**
     * What kernels of functions have in common.
     *
     * <p>The input's columns are the key, {@code __time} (the row's time in ms; NULL where it has none), {@code
     * __sorted_by} (the time by which it is sorted, likewise), {@code __input} (which of the tables it is of), {@code
     * __scalars} (a struct of the arguments that are no tables), {@code __values} (the row, where its columns are passed
     * through, else NULL), and a struct for each table, all but one of which are NULL. The output has what is passed through, or the key; the function's columns; the time, where it is emitted, and
     * the watermark that it stands behind.
     *
     * @param keyed whether the key is emitted
     * @param passes whether the input's row is
     * @param emitsTime whether each row has a time
     * @param sorts for each table whether its rows are sorted by time
     * @param orders for each table how its rows of one time are sorted; null where they come as they did
     */
    public record Spec(
            boolean keyed,
            boolean passes,
            boolean emitsTime,
            Description function,
            FunctionStates.Spec[] states,
            boolean[] sorts,
            RowOrder[] orders)
            implements Serializable {}

    private final Spec spec;
    private final FunctionStates states;
    private final int timeOrdinal;
    private final StructType input;
    private ProcessCall call;
    private InternalRow key;
    private InternalRow passed;
    private Long time;
    private long behind;

    FunctionHost(Kernel kernel, StructType input, Spec spec, boolean isStamped, LongSupplier clock) {
        this.spec = spec;
        this.input = input;
        timeOrdinal = input.fieldIndex(Hidden.TIME);
        states = new FunctionStates(kernel, spec.states(), isStamped, clock);
    }

    /** Takes a row of the output. */
    abstract void take(byte kind, InternalRow row);

    void begin(InternalRow key) {
        this.key = key;
        states.begin();
    }

    void end() {
        states.end();
    }

    /** Which table a row is of. */
    int table(InternalRow row) {
        return row.getInt(timeOrdinal + 2);
    }

    /** When it is; null where it has no time. */
    private Long time(InternalRow row) {
        return row.isNullAt(timeOrdinal) ? null : row.getLong(timeOrdinal);
    }

    /** The time by which it is sorted; null where that is NULL. */
    Long sortedBy(InternalRow row) {
        return row.isNullAt(timeOrdinal + 1) ? null : row.getLong(timeOrdinal + 1);
    }

    /** The row itself. */
    InternalRow values(InternalRow row) {
        return struct(row, timeOrdinal + ROWS + table(row));
    }

    private InternalRow struct(InternalRow row, int ordinal) {
        return row.getStruct(ordinal, ((StructType) input.apply(ordinal).dataType()).length());
    }

    /** Calls the function for a row that came behind a watermark. */
    void eval(InternalRow row, byte kind, long watermark) {
        time = time(row);
        behind = watermark;
        passed = spec.passes() ? struct(row, timeOrdinal + 4) : null;
        call().eval(table(row), values(row), kind, struct(row, timeOrdinal + 3), time);
    }

    /** The watermark that what is emitted now stands behind. */
    long behind() {
        return behind;
    }

    /**
     * Tells the function that a timer has fired. What it emits stands behind the watermark before the one that fires the
     * timer. Which that was is not known, for rows of other keys move it, too; hardly ever it is the very millisecond
     * before, at which what ends at the timer's time would be done.
     *
     * @param due the watermark at which it fires: later than its time where it was set behind the watermark
     */
    void onTimer(String name, long at, long due) {
        time = at;
        behind = due > at ? due - 1 : at - 2;
        call().onTimer(name, at);
    }

    private ProcessCall call() {
        if (call == null) {
            call = spec.function().openProcess();
            call.at(this);
        }
        return call;
    }

    @Override
    public void emit(byte kind, InternalRow row) {
        InternalRow all = spec.passes() ? new JoinedRow(passed, row) : spec.keyed() ? new JoinedRow(key, row) : row;
        take(kind, spec.emitsTime() ? new JoinedRow(all, Rows.of(time * MICROS, behind)) : all);
    }

    @Override
    public Object value(int state) {
        return states.value(state);
    }

    @Override
    public void setValue(int state, Object value) {
        states.setValue(state, value);
    }

    @Override
    public Iterable<Object> elements(int state) {
        return states.elements(state);
    }

    @Override
    public void append(int state, Object element) {
        states.append(state, element);
    }

    @Override
    public Iterable<Map.Entry<Object, Object>> entries(int state) {
        return states.entries(state);
    }

    @Override
    public boolean contains(int state, Object key) {
        return states.contains(state, key);
    }

    @Override
    public Object get(int state, Object key) {
        return states.get(state, key);
    }

    @Override
    public void put(int state, Object key, Object value) {
        states.put(state, key, value);
    }

    @Override
    public void remove(int state, Object key) {
        states.remove(state, key);
    }

    @Override
    public void clear(int state) {
        states.clear(state);
    }
}

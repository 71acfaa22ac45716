package flinkplan.runtime.python;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/**
 * The calls of a process table function in Python, for the keys of a key group.
 *
 * <p>What happens to keys, rows and watermarks, goes to a process of Python's in batches, with the states and timers of
 * each key when it appears. When all of it has been sent, what the function has emitted comes back, and what has become
 * of states and timers. Each state is a map from keys to what the function keeps, with the times when it was written,
 * by which Python lets entries expire.
 */
public final class FunctionCalls {
    private static final String MODULE = "flinkplan.udf.group_worker";
    private static final long MICROS = 1000;
    /** Which columns of the input stand before the rows of tables, behind the one of the time. */
    private static final int ROWS = 5;

    private static final byte ROW = 0;
    private static final byte WATERMARK = 1;
    private static final byte KEY = 2;
    private static final byte CLOCK = 3;
    /** The columns before states in what Python gets. */
    private static final int ADDED = 8;
    /** The columns before states in what has become of keys. */
    private static final int KEPT = 3;
    /** The columns before those of the function in what it emits. */
    private static final int EMITTED = 5;

    /**
     * A state of the function.
     *
     * @param content what is kept for a key, as {@code StateCode.stored} in Python has it
     * @param ttl how long (ms) what was written stays; 0: for ever
     */
    public record State(String name, StructType content, long ttl) implements Serializable {}

    /**
     * What kernels have in common. The input's columns are the key group, the key, and those of {@code
     * FunctionHost.Spec}.
     *
     * @param keys how many columns the key has
     * @param keyed whether it is emitted
     * @param passes whether the input's row is
     * @param emitsTime whether each row has a time
     * @param setsTimers whether the function may set timers
     * @param scalars whether it has arguments that are no tables
     * @param results the schema of what the function emits
     * @param sorts for each table whether its rows are sorted by time
     * @param orders for each table how its rows of one time are sorted; null where they come as they did
     * @param python the interpreter
     * @param path where it looks for modules
     * @param program what Python has to know, as the driver's Python has written it
     * @param batch how many rows Python gets at once
     */
    public record Spec(
            int keys,
            boolean keyed,
            boolean passes,
            boolean emitsTime,
            boolean setsTimers,
            boolean scalars,
            StructType results,
            State[] states,
            boolean[] sorts,
            RowOrder[] orders,
            String python,
            String path,
            byte[] program,
            int batch)
            implements Serializable {}

    /** Takes what the function emits. */
    interface Emitter {
        /**
         * Takes a row.
         *
         * @param sequence the number of the row that brought it about
         * @param place the place of that row
         * @param nth how many others that row has brought about before
         * @param count how many it has brought about
         * @param behind the watermark that the row stands behind
         */
        void take(byte kind, InternalRow row, long sequence, long place, int nth, int count, long behind);
    }

    private final Spec spec;
    private final StructType input;
    private final int timeOrdinal;
    private final StructType sent;
    private final StructType changed;
    private final PythonProcess.Program program;
    private final UnsafeProjection key;
    private final UnsafeProjection binary;
    private final FunctionStates states;

    private PythonProcess process;
    private ArrowRows requests;
    private ArrowRows answers;
    private ArrowRows changes;

    private final Map<InternalRow, Integer> numbers = new HashMap<>();
    private final List<InternalRow> keys = new ArrayList<>();
    private final List<Long> last = new ArrayList<>();
    private final List<InternalRow> passed = new ArrayList<>();
    private long[] sequences = new long[64];
    private long[] places = new long[64];
    private int count;
    private long clock;
    private long fired;
    private boolean isNew;

    /** @param isTimed whether it goes by watermarks: then states have no TTL of Spark's, and there may be timers */
    FunctionCalls(Kernel kernel, StructType input, Spec spec, boolean isTimed) {
        this.spec = spec;
        this.input = input;
        timeOrdinal = input.fieldIndex(Hidden.TIME);
        int[] keyColumns = IntStream.rangeClosed(1, spec.keys()).toArray();
        StructType keyType = Rows.select(input, keyColumns);
        states = new FunctionStates(kernel, keyType, spec.states(), !isTimed, isTimed && spec.setsTimers());
        sent = sent();
        StructType emitted = new StructType().add("key", DataTypes.IntegerType);
        emitted = emitted.add("changed", DataTypes.LongType).add("due", DataTypes.LongType);
        for (StructField state : states.columns().fields()) {
            emitted = emitted.add(state);
        }
        changed = states.withTimers(emitted);
        program = new PythonProcess.Program(
                spec.python(), spec.path(), MODULE, List.of(spec.program(), ArrowRows.schema(sent)));
        key = Rows.projection(input, keyColumns);
        binary = UnsafeProjection.create(spec.results());
        if (TaskContext.get() != null) {
            TaskCompletionListener released = context -> release();
            TaskContext.get().addTaskCompletionListener(released);
        }
    }

    private StructType sent() {
        StructType columns = new StructType()
                .add("what", DataTypes.ByteType)
                .add("key", DataTypes.IntegerType)
                .add("kind", DataTypes.ByteType)
                .add("table", DataTypes.IntegerType)
                .add("time", DataTypes.LongType)
                .add("watermark", DataTypes.LongType)
                .add("due", DataTypes.LongType)
                .add("behind", DataTypes.LongType);
        if (spec.states().length > 0) {
            columns = columns.add("states", states.columns());
        }
        columns = states.withTimers(columns);
        if (spec.scalars()) {
            columns = columns.add(input.apply(timeOrdinal + ROWS - 2));
        }
        for (int i = 0; i < spec.sorts().length; i++) {
            columns = columns.add(input.apply(timeOrdinal + ROWS + i));
        }
        return columns;
    }

    /** Which table a row is of. */
    int table(InternalRow row) {
        return row.getInt(timeOrdinal + 2);
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

    /** How many of the input's columns a call needs: the first ones. */
    int needed() {
        return timeOrdinal + ROWS + spec.sorts().length;
    }

    // ---------------------------------------------------------------- what happens

    /** Begins on a key group, at a time. */
    void begin(long clock) {
        this.clock = clock;
        numbers.clear();
        keys.clear();
        last.clear();
        passed.clear();
        count = 0;
        fired = Long.MIN_VALUE;
        states.begin();
    }

    /** The number of what a row brings about: it grows from row to row of a key, and keeps their order downstream. */
    long sequence(InternalRow row, long sequence) {
        int number = number(row);
        long grown = Math.max(last.get(number) + 1, sequence);
        last.set(number, grown);
        return grown;
    }

    /**
     * Calls the function for a row.
     *
     * @param watermark that the function is told; null: there is none
     * @param due which watermark timers wait for at least
     * @param behind the watermark that what is emitted stands behind
     */
    void eval(InternalRow row, byte kind, Long watermark, long due, long behind, long sequence, long place) {
        int number = number(row);
        Object[] columns = event(ROW, number);
        columns[2] = kind;
        int table = table(row);
        columns[3] = table;
        columns[4] = row.isNullAt(timeOrdinal) ? null : row.getLong(timeOrdinal);
        columns[5] = watermark;
        columns[6] = due;
        columns[7] = behind;
        int rest = sent.length() - spec.sorts().length;
        if (spec.scalars()) {
            columns[rest - 1] = struct(row, timeOrdinal + ROWS - 2);
        }
        columns[rest + table] = values(row);
        passed(spec.passes() ? struct(row, timeOrdinal + ROWS - 1).copy() : null);
        send(columns, sequence, place);
        fired = due == Long.MIN_VALUE ? due : Math.min(fired, due - 1);
    }

    private void passed(InternalRow row) {
        if (spec.passes()) {
            while (passed.size() < count) {
                passed.add(null);
            }
            passed.add(row);
        }
    }

    /**
     * Fires timers.
     *
     * @param reached the watermark that those wait for that fire last
     * @param watermark that the function is told
     */
    void fire(long reached, Long watermark, long sequence) {
        if (!states.keepsTimers() || numbers.isEmpty() || reached <= fired) {
            return;
        }
        fired = reached;
        Object[] columns = event(WATERMARK, null);
        columns[5] = watermark;
        columns[6] = reached;
        send(columns, sequence, 0);
    }

    /** Has keys appear whose timers a watermark fires. */
    void wake(long reached, Long watermark, long sequence) {
        if (!states.keepsTimers()) {
            return;
        }
        for (InternalRow awake; (awake = states.awake(reached, numbers.keySet())) != null; ) {
            Object[] columns = event(KEY, added(awake));
            columns[5] = watermark;
            send(columns, sequence, 0);
            fired = Long.MIN_VALUE;
        }
    }

    private int number(InternalRow row) {
        InternalRow given = key.apply(row);
        Integer known = numbers.get(given);
        return known == null ? added(given.copy()) : known;
    }

    private int added(InternalRow key) {
        numbers.put(key, keys.size());
        keys.add(key);
        last.add(Long.MIN_VALUE);
        isNew = true;
        return keys.size() - 1;
    }

    /** An event; of a key that appears with what is kept for it. */
    private Object[] event(byte what, Integer number) {
        if (count == 0 && requests == null) {
            start();
        }
        if (requests.count() == 0 && count == 0) {
            Object[] columns = new Object[sent.length()];
            columns[0] = CLOCK;
            columns[4] = clock;
            send(columns, 0, 0);
        }
        Object[] columns = new Object[sent.length()];
        columns[0] = what;
        columns[1] = number;
        if (number != null && isNew) {
            isNew = false;
            states.read(keys.get(number), columns, ADDED);
        }
        return columns;
    }

    private void send(Object[] columns, long sequence, long place) {
        requests.add(new GenericInternalRow(columns));
        if (count == sequences.length) {
            sequences = Arrays.copyOf(sequences, 2 * count);
            places = Arrays.copyOf(places, 2 * count);
        }
        sequences[count] = sequence;
        places[count] = place;
        count++;
        if (requests.count() >= spec.batch()) {
            try {
                process.send(requests.written());
            } catch (IOException e) {
                throw unreachable(e);
            }
        }
    }

    // ---------------------------------------------------------------- what has come of it

    /** A row that was emitted. */
    private record Emitted(byte kind, InternalRow row, int cause, long behind) {}

    /**
     * Ends with the key group: hands on what was emitted, and writes what has changed.
     *
     * @return the watermark that the first timer of these keys waits for; {@link Long#MAX_VALUE} where there is none
     */
    long end(Emitter emitter) {
        if (count == 0) {
            return states.nextOfOthers(numbers.keySet());
        }
        boolean isDone = false;
        try {
            if (requests.count() > 0) {
                process.send(requests.written());
            }
            process.end();
            byte[] emitted = process.receive();
            long[] due = {states.nextOfOthers(numbers.keySet())};
            changes.read(process.receive(), row -> {
                states.write(keys.get(row.getInt(0)), row.getLong(1), row, KEPT);
                due[0] = Math.min(due[0], row.getLong(2));
            });
            List<Emitted> rows = new ArrayList<>();
            answers.read(emitted, row -> rows.add(emitted(row)));
            handOn(rows, emitter);
            isDone = true;
            return due[0];
        } catch (IOException e) {
            throw unreachable(e);
        } finally {
            if (!isDone) {
                abandon();
            }
        }
    }

    /** Whether the timers of all keys have been looked at. */
    boolean knowsAllTimers() {
        return states.knowsAllTimers();
    }

    private Emitted emitted(InternalRow row) {
        int cause = (int) row.getLong(0);
        Object[] values = new Object[spec.results().length()];
        for (int i = 0; i < values.length; i++) {
            int at = EMITTED + i;
            values[i] = row.isNullAt(at) ? null : row.get(at, spec.results().apply(i).dataType());
        }
        InternalRow made = binary.apply(new GenericInternalRow(values)).copy();
        InternalRow before = spec.passes() ? passed.get(cause) : spec.keyed() ? keys.get(row.getInt(1)) : null;
        InternalRow all = before == null ? made : new JoinedRow(before, made);
        long behind = row.getLong(4);
        if (spec.emitsTime()) {
            all = new JoinedRow(all, Rows.of(row.isNullAt(3) ? null : row.getLong(3) * MICROS, behind));
        }
        return new Emitted(row.getByte(2), all, cause, behind);
    }

    private void handOn(List<Emitted> rows, Emitter emitter) {
        for (int from = 0, to; from < rows.size(); from = to) {
            int cause = rows.get(from).cause();
            to = from + 1;
            while (to < rows.size() && rows.get(to).cause() == cause) {
                to++;
            }
            for (int i = from; i < to; i++) {
                Emitted each = rows.get(i);
                int nth = i - from;
                emitter.take(
                        each.kind(), each.row(), sequences[cause], places[cause], nth, to - from, each.behind());
            }
        }
    }

    // ---------------------------------------------------------------- the process

    private void start() {
        process = PythonProcess.of(program);
        requests = new ArrowRows(sent);
        StructType emitted = new StructType()
                .add("cause", DataTypes.LongType)
                .add("key", DataTypes.IntegerType)
                .add("kind", DataTypes.ByteType)
                .add("time", DataTypes.LongType)
                .add("behind", DataTypes.LongType);
        for (StructField field : spec.results().fields()) {
            emitted = emitted.add(field);
        }
        answers = new ArrowRows(emitted);
        changes = new ArrowRows(changed);
    }

    /** Leaves the process to others. */
    void release() {
        if (process != null) {
            process.release();
            close();
        }
    }

    /** Ends the process, which may be within a request. */
    private void abandon() {
        if (process != null) {
            process.destroy();
            close();
        }
    }

    private void close() {
        requests.close();
        answers.close();
        changes.close();
        requests = null;
        process = null;
    }

    private static UncheckedIOException unreachable(IOException e) {
        return new UncheckedIOException("the process of the Python functions cannot be reached", e);
    }
}

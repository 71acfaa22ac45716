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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;
import scala.collection.Iterator;

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
    private static final String PREFIX = "state-";
    private static final String TIMERS = "timers";
    private static final long MICROS = 1000;
    /** Which columns of the input stand before the rows of tables, behind the one of the time. */
    private static final int ROWS = 5;

    private static final byte ROW = 0;
    private static final byte WATERMARK = 1;
    private static final byte KEY = 2;
    private static final byte CLOCK = 3;
    /** The columns before states in what Python gets. */
    private static final int ADDED = 8;
    /** The columns before those of the function in what it emits. */
    private static final int EMITTED = 5;

    private static final StructType TIMER = new StructType()
            .add("name", DataTypes.StringType)
            .add("time", DataTypes.LongType, false)
            .add("due", DataTypes.LongType, false);

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

    /** A key whose timers wait. */
    private record Waiting(long due, InternalRow key) {}

    private final Spec spec;
    private final boolean isTimed;
    private final StructType input;
    private final int timeOrdinal;
    private final StructType sent;
    private final StructType changed;
    private final PythonProcess.Program program;
    private final UnsafeProjection key;
    private final UnsafeProjection binary;
    private final UnsafeProjection[] contents;
    private final List<MapState<InternalRow, InternalRow>> states = new ArrayList<>();
    private final MapState<InternalRow, InternalRow> timers;

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
    private PriorityQueue<Waiting> waiting;
    private boolean isNew;

    /** @param isTimed whether it goes by watermarks: then states have no TTL of Spark's, and there may be timers */
    FunctionCalls(Kernel kernel, StructType input, Spec spec, boolean isTimed) {
        this.spec = spec;
        this.isTimed = isTimed;
        this.input = input;
        timeOrdinal = input.fieldIndex(Hidden.TIME);
        int[] keyColumns = IntStream.rangeClosed(1, spec.keys()).toArray();
        StructType keyType = Rows.select(input, keyColumns);
        StructType kept = new StructType();
        for (State state : spec.states()) {
            states.add(kernel.mapState(PREFIX + state.name(), keyType, state.content(), isTimed ? 0 : state.ttl()));
            kept = kept.add(state.name(), state.content());
        }
        DataType timerType = DataTypes.createArrayType(TIMER, false);
        StructType timersOfKey = new StructType().add(TIMERS, timerType, false);
        timers = keepsTimers() ? kernel.mapState(TIMERS, keyType, timersOfKey, 0) : null;
        contents = new UnsafeProjection[states.size() + 1];
        for (int i = 0; i < states.size(); i++) {
            contents[i] = UnsafeProjection.create(spec.states()[i].content());
        }
        contents[states.size()] = UnsafeProjection.create(timersOfKey);
        sent = sent(kept, timerType);
        StructType emitted = new StructType().add("key", DataTypes.IntegerType);
        emitted = emitted.add("changed", DataTypes.LongType).add("due", DataTypes.LongType);
        for (StructField state : kept.fields()) {
            emitted = emitted.add(state);
        }
        changed = keepsTimers() ? emitted.add(TIMERS, timerType) : emitted;
        program = new PythonProcess.Program(
                spec.python(), spec.path(), MODULE, List.of(spec.program(), ArrowRows.schema(sent)));
        key = Rows.projection(input, keyColumns);
        binary = UnsafeProjection.create(spec.results());
        if (TaskContext.get() != null) {
            TaskCompletionListener released = context -> release();
            TaskContext.get().addTaskCompletionListener(released);
        }
    }

    private boolean keepsTimers() {
        return isTimed && spec.setsTimers();
    }

    private StructType sent(StructType kept, DataType timerType) {
        StructType columns = new StructType()
                .add("what", DataTypes.ByteType)
                .add("key", DataTypes.IntegerType)
                .add("kind", DataTypes.ByteType)
                .add("table", DataTypes.IntegerType)
                .add("time", DataTypes.LongType)
                .add("watermark", DataTypes.LongType)
                .add("due", DataTypes.LongType)
                .add("behind", DataTypes.LongType);
        if (kept.length() > 0) {
            columns = columns.add("states", kept);
        }
        if (keepsTimers()) {
            columns = columns.add(TIMERS, timerType);
        }
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
        waiting = null;
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
        if (!keepsTimers() || numbers.isEmpty() || reached <= fired) {
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
        if (!keepsTimers()) {
            return;
        }
        if (waiting == null) {
            loadTimers();
        }
        while (!waiting.isEmpty() && waiting.peek().due() <= reached) {
            InternalRow awake = waiting.poll().key();
            if (!numbers.containsKey(awake)) {
                Object[] columns = event(KEY, added(awake));
                columns[5] = watermark;
                send(columns, sequence, 0);
                fired = Long.MIN_VALUE;
            }
        }
    }

    private void loadTimers() {
        waiting = new PriorityQueue<>(Comparator.comparingLong(Waiting::due));
        for (Iterator<Tuple2<InternalRow, InternalRow>> stored = timers.iterator(); stored.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> entry = stored.next();
            ArrayData rows = entry._2().getArray(0);
            long due = Long.MAX_VALUE;
            for (int i = 0; i < rows.numElements(); i++) {
                due = Math.min(due, rows.getStruct(i, TIMER.length()).getLong(2));
            }
            InternalRow copy = key(entry._1());
            if (!numbers.containsKey(copy)) {
                waiting.add(new Waiting(due, copy));
            }
        }
    }

    /** A key as it is kept, as the projection of rows makes it. */
    private InternalRow key(InternalRow kept) {
        StructType type = Rows.select(input, IntStream.rangeClosed(1, spec.keys()).toArray());
        Object[] values = new Object[input.length()];
        for (int i = 0; i < type.length(); i++) {
            values[i + 1] = kept.isNullAt(i) ? null : kept.get(i, type.apply(i).dataType());
        }
        return key.apply(new GenericInternalRow(values)).copy();
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
            InternalRow of = keys.get(number);
            int at = ADDED;
            if (!states.isEmpty()) {
                Object[] kept = new Object[states.size()];
                for (int i = 0; i < kept.length; i++) {
                    kept[i] = states.get(i).getValue(of);
                }
                columns[at++] = new GenericInternalRow(kept);
            }
            if (keepsTimers()) {
                InternalRow kept = timers.getValue(of);
                columns[at] = kept == null ? null : kept.getArray(0);
            }
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
            return nextOfOthers();
        }
        boolean isDone = false;
        try {
            if (requests.count() > 0) {
                process.send(requests.written());
            }
            process.end();
            byte[] emitted = process.receive();
            long[] due = {nextOfOthers()};
            changes.read(process.receive(), row -> due[0] = Math.min(due[0], keep(row)));
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

    /** What the timers of other keys wait for, as far as they have been looked at. */
    private long nextOfOthers() {
        if (waiting == null) {
            return Long.MAX_VALUE;
        }
        while (!waiting.isEmpty() && numbers.containsKey(waiting.peek().key())) {
            waiting.poll();
        }
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.peek().due();
    }

    /** Whether the timers of all keys have been looked at. */
    boolean knowsAllTimers() {
        return waiting != null || !keepsTimers();
    }

    private long keep(InternalRow row) {
        InternalRow of = keys.get(row.getInt(0));
        long bits = row.getLong(1);
        for (int i = 0; i < states.size(); i++) {
            if ((bits & 1L << i) != 0) {
                int width = spec.states()[i].content().length();
                boolean isEmpty = row.isNullAt(3 + i);
                write(states.get(i), of, isEmpty ? null : contents[i].apply(row.getStruct(3 + i, width)));
            }
        }
        if (keepsTimers() && (bits & 1L << states.size()) != 0) {
            int at = 3 + states.size();
            write(timers, of, row.isNullAt(at) ? null : contents[states.size()].apply(Rows.of(row.getArray(at))));
        }
        return row.getLong(2);
    }

    private static void write(MapState<InternalRow, InternalRow> state, InternalRow key, UnsafeRow content) {
        if (content == null) {
            state.removeKey(key);
        } else {
            state.updateValue(key, content.copy());
        }
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

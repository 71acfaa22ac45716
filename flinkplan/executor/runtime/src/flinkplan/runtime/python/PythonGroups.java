package flinkplan.runtime.python;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.kernel.Output;
import flinkplan.runtime.row.Place;
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
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * GROUP BY with aggregate functions in Python.
 *
 * <p>Its rows are keyed by the number of a key group, so that many groups are worked on in one go: their rows go to a
 * process of Python's in batches, each group's accumulators with its first row, and come back with what has changed.
 * The state of a group are its accumulators as Python writes them.
 */
public final class PythonGroups extends Kernel {
    private static final long serialVersionUID = 1;

    private static final String MODULE = "flinkplan.udf.group_worker";
    /** The columns before the arguments in what Python gets. */
    private static final int ADDED = 3;

    private final Spec spec;
    private final StructType keys;
    private final StructType values;
    private final StructType sent;
    private final Output output;
    private final PythonProcess.Program program;

    private transient MapState<InternalRow, InternalRow> state;
    private transient UnsafeProjection key;
    private transient UnsafeProjection binary;
    private transient PythonProcess process;
    private transient ArrowRows requests;
    private transient ArrowRows changes;
    private transient ArrowRows states;
    private transient boolean isSorted;

    /**
     * What there is to know of it beside its input, whose columns are the key group, the key, and the arguments.
     *
     * @param group the schema of the group's columns in the output; without any, the key is a constant
     * @param values the schema of the calls' results
     * @param keys how many columns the key has
     * @param arguments how many columns the functions read
     * @param python the interpreter
     * @param path where it looks for modules
     * @param grouping what Python has to know, as the driver's Python has written it
     * @param batch how many rows Python gets at once
     * @param ttl of the state, in milliseconds; 0: none
     */
    public record Spec(
            StructType group,
            StructType values,
            int keys,
            int arguments,
            String python,
            String path,
            byte[] grouping,
            int batch,
            long ttl)
            implements Serializable {}

    public PythonGroups(StructType input, Spec spec) {
        super(input);
        this.spec = spec;
        this.keys = Rows.select(input, IntStream.rangeClosed(1, spec.keys).toArray());
        int first = spec.keys + 1;
        this.values = Rows.select(
                input, IntStream.range(first, first + spec.arguments).toArray());
        StructType columns = new StructType()
                .add("group", DataTypes.IntegerType, false)
                .add("state", DataTypes.BinaryType)
                .add("kind", DataTypes.ByteType, false);
        for (StructField field : values.fields()) {
            columns = columns.add(field);
        }
        this.sent = columns;
        this.output = new Output(spec.group.merge(spec.values, true), true);
        this.program = new PythonProcess.Program(
                spec.python, spec.path, MODULE, List.of(spec.grouping, ArrowRows.schema(sent)));
    }

    @Override
    protected void open() {
        state = mapState("accumulators", keys, new StructType().add("accumulators", DataTypes.BinaryType), spec.ttl);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
        key = Rows.projection(
                input(), IntStream.rangeClosed(1, spec.keys).toArray());
        binary = UnsafeProjection.create(spec.values);
        if (TaskContext.get() != null) {
            TaskCompletionListener released = context -> release();
            TaskContext.get().addTaskCompletionListener(released);
        }
    }

    @Override
    public StructType outputSchema() {
        return output.schema();
    }

    /** States expire by the clock. */
    @Override
    public TimeMode timeMode() {
        return TimeMode.ProcessingTime();
    }

    @Override
    public boolean setsTimers() {
        return false;
    }

    @Override
    public void inOnePass() {
        isSorted = true;
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow bucket, Iterator<InternalRow> rows, TimerValues timers) {
        limitCache();
        try {
            return CollectionConverters.asScala(
                    new Run().process(isSorted ? rows : sorted(rows)).iterator());
        } catch (IOException e) {
            throw new UncheckedIOException("the process of the Python functions cannot be reached", e);
        }
    }

    private Iterator<InternalRow> sorted(Iterator<InternalRow> rows) {
        List<InternalRow> list = Rows.list(rows);
        list.sort(order());
        return CollectionConverters.asScala(list.iterator());
    }

    @Override
    public void close() {
        release();
        super.close();
    }

    private void start() {
        if (process == null) {
            process = PythonProcess.of(program);
            requests = new ArrowRows(sent);
            StructType changed = new StructType()
                    .add("cause", DataTypes.LongType)
                    .add("group", DataTypes.IntegerType)
                    .add("kind", DataTypes.ByteType);
            for (StructField field : spec.values.fields()) {
                changed = changed.add(field);
            }
            changes = new ArrowRows(changed);
            states = new ArrowRows(
                    new StructType().add("group", DataTypes.IntegerType).add("accumulators", DataTypes.BinaryType));
        }
    }

    private void release() {
        if (process != null) {
            process.release();
            close(requests, changes, states);
            process = null;
        }
    }

    private static void close(ArrowRows... all) {
        for (ArrowRows rows : all) {
            rows.close();
        }
    }

    /** Ends the process, which may be within a request. */
    private void abandon() {
        process.destroy();
        close(requests, changes, states);
        process = null;
    }

    /** The rows of one key group, of a micro-batch or of all. */
    private final class Run {
        private final Map<InternalRow, Integer> numbers = new HashMap<>();
        private final List<InternalRow> groups = new ArrayList<>();
        private final List<Long> last = new ArrayList<>();
        private long[] sequences = new long[spec.batch];
        private long[] places = new long[spec.batch];
        private int count;
        private final List<InternalRow> emitted = new ArrayList<>();

        List<InternalRow> process(Iterator<InternalRow> rows) throws IOException {
            start();
            boolean isDone = false;
            try {
                while (rows.hasNext()) {
                    add(rows.next());
                    if (requests.count() >= spec.batch) {
                        process.send(requests.written());
                    }
                }
                if (requests.count() > 0) {
                    process.send(requests.written());
                }
                process.end();
                byte[] changed = process.receive();
                states.read(process.receive(), this::keep);
                emit(changed);
                isDone = true;
            } finally {
                if (!isDone) {
                    abandon();
                }
            }
            return emitted;
        }

        private void add(InternalRow row) {
            InternalRow given = key.apply(row);
            Integer known = numbers.get(given);
            InternalRow saved = known == null ? state.getValue(given) : null;
            int number = known == null ? numbered(given.copy()) : known;
            Object[] columns = new Object[ADDED + spec.arguments];
            columns[0] = number;
            columns[1] = saved == null ? null : saved.getBinary(0);
            columns[2] = kind(row);
            for (int i = 0; i < spec.arguments; i++) {
                int at = spec.keys + 1 + i;
                columns[ADDED + i] =
                        row.isNullAt(at) ? null : row.get(at, values.apply(i).dataType());
            }
            requests.add(new GenericInternalRow(columns));
            if (count == sequences.length) {
                sequences = Arrays.copyOf(sequences, 2 * count);
                places = Arrays.copyOf(places, 2 * count);
            }
            // what each row brings about has a number of its own, so that it keeps its order downstream
            long sequence = Math.max(last.get(number) + 1, sequence(row));
            last.set(number, sequence);
            sequences[count] = sequence;
            places[count] = place(row);
            count++;
        }

        private int numbered(InternalRow group) {
            numbers.put(group, groups.size());
            groups.add(group);
            last.add(Long.MIN_VALUE);
            return groups.size() - 1;
        }

        private void keep(InternalRow row) {
            InternalRow group = groups.get(row.getInt(0));
            if (row.isNullAt(1)) {
                state.removeKey(group);
            } else {
                state.updateValue(group, Rows.of(row.getBinary(1)));
            }
        }

        /** Emits changes, among which the place of the row that brought them about is divided. */
        private void emit(byte[] changed) throws IOException {
            List<InternalRow> rows = new ArrayList<>();
            List<Integer> causes = new ArrayList<>();
            changes.read(changed, row -> {
                int cause = (int) row.getLong(0);
                causes.add(cause);
                rows.add(outputRow(row, cause));
            });
            int placed = output.columns().length() + 1;
            for (int from = 0, to; from < rows.size(); from = to) {
                to = from + 1;
                while (to < rows.size() && causes.get(to).equals(causes.get(from))) {
                    to++;
                }
                for (int i = from; to - from > 1 && i < to; i++) {
                    rows.get(i).update(placed, Place.part(places[causes.get(from)], i - from, to - from));
                }
            }
            emitted.addAll(rows);
        }

        private InternalRow outputRow(InternalRow change, int cause) {
            Object[] results = new Object[spec.values.length()];
            for (int i = 0; i < results.length; i++) {
                int at = ADDED + i;
                results[i] = change.isNullAt(at)
                        ? null
                        : change.get(at, spec.values.apply(i).dataType());
            }
            InternalRow computed = binary.apply(Rows.of(results)).copy();
            InternalRow group = groups.get(change.getInt(1));
            InternalRow row = spec.group.length() > 0 ? new JoinedRow(group, computed) : computed;
            return output.row(row, change.getByte(2), places[cause], sequences[cause]);
        }
    }
}

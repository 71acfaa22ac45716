package flinkplan.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An operator on a keyed changelog.
 *
 * <p>A kernel sees a key's rows of a micro-batch in the order of their sequence numbers, works on a copy of the
 * state in memory, and writes back once, when the last row is done. The output is made lazily, row by row.
 */
public abstract class Kernel extends StatefulProcessor<InternalRow, InternalRow, InternalRow> implements States {
    /** Stands for "never expires": a state without any TTL could not be given one later. */
    private static final Duration FOREVER = Duration.ofDays(36_500);

    private final StructType columns;
    private final boolean changelog;
    private final int kindOrdinal;
    private final int sequenceOrdinal;

    private transient boolean isSorted;
    private transient Comparator<InternalRow> order;
    private transient ArrayDeque<InternalRow> emitted;
    private transient long sequence;

    /**
     * @param input the schema of the input
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds; if not, it is insert-only
     */
    protected Kernel(StructType input, StructType columns, boolean changelog) {
        this.columns = columns;
        this.changelog = changelog;
        this.kindOrdinal = List.of(input.fieldNames()).indexOf(Hidden.KIND);
        this.sequenceOrdinal = input.fieldIndex(Hidden.SEQUENCE);
    }

    /** Declares the states; called once per task and, to learn the states' schemas, on the driver. */
    protected abstract void open();

    /** Starts on the rows of a key. */
    protected abstract void begin(InternalRow key);

    /** Takes one row in; it may be kept. */
    protected abstract void process(InternalRow row, byte kind);

    /** Ends the rows of a key: the states are to be written now. */
    protected abstract void finish();

    /** Whether it makes a difference in which order rows come. */
    protected boolean orderMatters() {
        return true;
    }

    /** How many inputs the rows come from. */
    protected int inputs() {
        return 1;
    }

    /** Which of the inputs a row is of, from 0. */
    protected int input(InternalRow row) {
        return 0;
    }

    /** Whether the input has row kinds; if not, it is insert-only. */
    protected final boolean readsChangelog() {
        return kindOrdinal >= 0;
    }

    final StructType outputSchema() {
        return Hidden.behind(columns, changelog);
    }

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        emitted = new ArrayDeque<>();
        order = Comparator.<InternalRow>comparingLong(row -> row.getLong(sequenceOrdinal))
                .thenComparing(row -> !RowKind.retracts(kind(row)));
        open();
    }

    /** Says that the rows of a key come in their order: they need not be gathered to be sorted. */
    public final void takeSorted() {
        isSorted = true;
    }

    @Override
    public final Iterator<InternalRow> handleInputRows(
            InternalRow key, Iterator<InternalRow> rows, TimerValues timers) {
        begin(key);
        return new Run(orderMatters() ? inOrder(rows) : rows);
    }

    private Iterator<InternalRow> inOrder(Iterator<InternalRow> rows) {
        if (!isSorted) {
            return sorted(rows);
        }
        return inputs() > 1 ? new Turns(rows) : rows;
    }

    /** The number of the row at work; it grows from row to row of a key. */
    protected final long sequence() {
        return sequence;
    }

    /** Emits a row; its columns must not change afterwards. */
    protected final void emit(byte kind, InternalRow row) {
        emit(kind, row, sequence);
    }

    /** Emits a row that a row of the number {@code sequence} brought about. */
    protected final void emit(byte kind, InternalRow row, long sequence) {
        emitted.add(new JoinedRow(row, changelog ? Rows.of(kind, sequence) : Rows.of(sequence)));
    }

    public final ValueState<InternalRow> valueState(String name, StructType value, long ttl) {
        return getHandle().getValueState(name, Rows.stateEncoder(value), config(ttl));
    }

    public final ListState<InternalRow> listState(String name, StructType value, long ttl) {
        return getHandle().getListState(name, Rows.stateEncoder(value), config(ttl));
    }

    @Override
    public final MapState<InternalRow, InternalRow> mapState(
            String name, StructType key, StructType value, long ttl) {
        return getHandle().getMapState(name, Rows.stateEncoder(key), Rows.stateEncoder(value), config(ttl));
    }

    private static TTLConfig config(long ttl) {
        return TTLConfig.apply(ttl == 0 ? FOREVER : Duration.ofMillis(ttl));
    }

    private Iterator<InternalRow> sorted(Iterator<InternalRow> rows) {
        List<InternalRow> list = new ArrayList<>();
        rows.foreach(list::add);
        list.sort(order);
        if (inputs() > 1) {
            takeTurns(list);
        }
        return CollectionConverters.asScala(list.iterator());
    }

    /** Puts rows with the same number in the order in which Flink reads several inputs: a row of each in turn. */
    private void takeTurns(List<InternalRow> rows) {
        for (int from = 0, to; from < rows.size(); from = to) {
            long number = rows.get(from).getLong(sequenceOrdinal);
            to = from + 1;
            while (to < rows.size() && rows.get(to).getLong(sequenceOrdinal) == number) {
                to++;
            }
            takeTurnsOfOne(rows.subList(from, to));
        }
    }

    private void takeTurnsOfOne(List<InternalRow> same) {
        if (same.size() == 1) {
            return;
        }
        int[] turns = new int[inputs()];
        TreeMap<Integer, InternalRow> inTurn = new TreeMap<>();
        for (InternalRow row : same) {
            int input = input(row);
            inTurn.put(turns[input]++ * turns.length + input, row);
        }
        Collections.copy(same, new ArrayList<>(inTurn.values()));
    }

    /** Sorted rows of several inputs, in turn where they have the same number. */
    private final class Turns extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final ArrayDeque<InternalRow> same = new ArrayDeque<>();
        private InternalRow next;

        Turns(Iterator<InternalRow> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            return !same.isEmpty() || next != null || rows.hasNext();
        }

        @Override
        public InternalRow next() {
            if (same.isEmpty()) {
                gather();
            }
            return same.poll();
        }

        private void gather() {
            InternalRow first = next == null ? rows.next() : next;
            next = rows.hasNext() ? rows.next() : null;
            long number = first.getLong(sequenceOrdinal);
            if (next == null || next.getLong(sequenceOrdinal) != number) {
                same.add(first);
                return;
            }
            List<InternalRow> gathered = new ArrayList<>(List.of(first));
            while (next != null && next.getLong(sequenceOrdinal) == number) {
                gathered.add(next);
                next = rows.hasNext() ? rows.next() : null;
            }
            takeTurnsOfOne(gathered);
            same.addAll(gathered);
        }
    }

    private byte kind(InternalRow row) {
        return kindOrdinal < 0 ? RowKind.INSERT : row.getByte(kindOrdinal);
    }

    /** One key's rows of a micro-batch, processed as their output is asked for. */
    private final class Run extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private boolean finished;

        Run(Iterator<InternalRow> rows) {
            this.rows = rows;
            sequence = Long.MIN_VALUE;
        }

        @Override
        public boolean hasNext() {
            while (emitted.isEmpty() && !finished) {
                if (rows.hasNext()) {
                    InternalRow row = rows.next();
                    // what each row brings about has a number of its own, so that it keeps its place downstream
                    sequence = Math.max(sequence + 1, row.getLong(sequenceOrdinal));
                    process(row, kind(row));
                } else {
                    finished = true;
                    finish();
                }
            }
            return !emitted.isEmpty();
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return emitted.poll();
        }
    }
}

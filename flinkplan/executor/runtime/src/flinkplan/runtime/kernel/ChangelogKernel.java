package flinkplan.runtime.kernel;

import flinkplan.runtime.row.Place;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
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
public abstract class ChangelogKernel extends Kernel {
    private final Output output;

    private transient boolean isSorted;
    private transient ArrayDeque<InternalRow> emitted;
    private transient long sequence;
    private transient long place;
    private transient boolean isPlaced;
    private transient long clock;

    /**
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds; if not, it is insert-only
     */
    protected ChangelogKernel(StructType input, StructType columns, boolean changelog) {
        super(input);
        this.output = new Output(columns, changelog);
    }

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

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        emitted = new ArrayDeque<>();
        super.init(outputMode, timeMode);
    }

    @Override
    public final StructType outputSchema() {
        return output.schema();
    }

    /** States expire by the clock. */
    @Override
    public final TimeMode timeMode() {
        return TimeMode.ProcessingTime();
    }

    @Override
    public final boolean setsTimers() {
        return false;
    }

    /** Then rows need not be gathered to be sorted. */
    @Override
    public final void inOnePass() {
        isSorted = true;
    }

    @Override
    public final Iterator<InternalRow> handleInputRows(
            InternalRow key, Iterator<InternalRow> rows, TimerValues timers) {
        limitCache();
        clock = timers.getCurrentProcessingTimeInMs();
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
        emitted.add(output.row(row, kind, sequence == this.sequence ? place : Place.WHOLE, sequence));
    }

    /** Emits a row that a row of the number {@code sequence} brought about, at its place among all of these. */
    protected final void emit(byte kind, InternalRow row, long sequence, long place) {
        emitted.add(output.row(row, kind, place, sequence));
        isPlaced = true;
    }

    /** The time of the batch. */
    protected final long clock() {
        return clock;
    }

    private Iterator<InternalRow> sorted(Iterator<InternalRow> rows) {
        List<InternalRow> list = new ArrayList<>();
        rows.foreach(list::add);
        list.sort(order());
        if (inputs() > 1) {
            takeTurns(list);
        }
        return CollectionConverters.asScala(list.iterator());
    }

    /** Puts rows with the same number in the order in which Flink reads several inputs: a row of each in turn. */
    private void takeTurns(List<InternalRow> rows) {
        for (int from = 0, to; from < rows.size(); from = to) {
            long number = sequence(rows.get(from));
            to = from + 1;
            while (to < rows.size() && sequence(rows.get(to)) == number) {
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
            long number = sequence(first);
            if (next == null || sequence(next) != number) {
                same.add(first);
                return;
            }
            List<InternalRow> gathered = new ArrayList<>(List.of(first));
            while (next != null && sequence(next) == number) {
                gathered.add(next);
                next = rows.hasNext() ? rows.next() : null;
            }
            takeTurnsOfOne(gathered);
            same.addAll(gathered);
        }
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
                    // what each row brings about has a number of its own, so that it keeps its order downstream
                    sequence = Math.max(sequence + 1, sequence(row));
                    place = place(row);
                    process(row, kind(row));
                } else {
                    finished = true;
                    finish();
                }
                if (output.changelog() && emitted.size() > 1 && !isPlaced) {
                    output.divide(emitted);
                }
                isPlaced = false;
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

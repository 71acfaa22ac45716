package flinkplan.runtime.batch;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.IterableOnce;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction2;

/**
 * Runs a kernel over all rows of one key after the other, which come in the order of their sequence numbers: first
 * those before the end of input, then those behind it, then the timers that are due at the end.
 *
 * <p>That is what two micro-batches do, the second one at the end of time, but for the states, which nobody needs
 * behind the last row. Each task has its own, deserialized with its code.
 */
public final class KeyedPass extends AbstractFunction2<InternalRow, Iterator<InternalRow>, IterableOnce<InternalRow>>
        implements Serializable {
    /** The watermark of Spark before there is one. */
    private static final long NO_WATERMARK = 0;

    private final Kernel kernel;
    private final int inputSequence;
    private final int outputSequence;
    private final long clock = System.currentTimeMillis();

    private transient MemoryHandle handle;

    /**
     * @param input the schema of the rows; without sequence numbers, or where the kernel takes them by their times, all
     *     come when input has ended
     */
    public KeyedPass(Kernel kernel, StructType input) {
        this.kernel = kernel;
        this.inputSequence =
                kernel.takesRowsBy() != null ? -1 : List.of(input.fieldNames()).indexOf(Hidden.SEQUENCE);
        this.outputSequence = kernel.outputSchema().fieldIndex(Hidden.SEQUENCE);
    }

    private record Times(long getCurrentProcessingTimeInMs, long getCurrentWatermarkInMs) implements TimerValues {}

    @Override
    public IterableOnce<InternalRow> apply(InternalRow key, Iterator<InternalRow> rows) {
        if (handle == null) {
            handle = new MemoryHandle();
            kernel.setHandle(handle);
            kernel.inOnePass();
            kernel.init(OutputMode.Append(), kernel.timeMode());
        }
        handle.begin();
        return new Pass(key, new Ahead(rows));
    }

    /** The rows of a key, as one phase sees them. */
    private final class Ahead extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> all;
        private InternalRow next;
        private boolean isBehind;

        Ahead(Iterator<InternalRow> all) {
            this.all = all;
        }

        void turnToEnd() {
            isBehind = true;
        }

        @Override
        public boolean hasNext() {
            if (next == null && all.hasNext()) {
                next = all.next();
            }
            if (next == null && !kernel.setsTimers()) {
                handle.end(); // these were its last rows
            }
            return next != null
                    && (isBehind || inputSequence >= 0 && !EndOfInput.isBehind(next.getLong(inputSequence)));
        }

        @Override
        public InternalRow next() {
            InternalRow row = next;
            next = null;
            return row;
        }
    }

    private enum Phase {
        BEFORE,
        BEHIND,
        TIMERS
    }

    /** What comes of a key, made as it is asked for. */
    private final class Pass extends AbstractIterator<InternalRow> {
        private final InternalRow key;
        private final Ahead rows;
        private Phase phase;
        private Iterator<InternalRow> output = Iterator.<InternalRow>empty();
        private boolean isOver;

        Pass(InternalRow key, Ahead rows) {
            this.key = key;
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            while (!output.hasNext() && !isOver) {
                advance();
            }
            return !isOver;
        }

        /** Turns to the next that the kernel is called for. */
        private void advance() {
            if (phase == null) {
                phase = Phase.BEFORE;
                handOn(new Times(clock, NO_WATERMARK));
            } else if (phase == Phase.BEFORE) {
                phase = Phase.BEHIND;
                rows.turnToEnd();
                handOn(new Times(clock + 1, SparkTime.END));
            } else {
                phase = Phase.TIMERS;
                Long time = handle.expired(kernel.timeMode().equals(TimeMode.EventTime()) ? SparkTime.END : clock + 1);
                isOver = time == null;
                if (!isOver) {
                    output = kernel.handleExpiredTimer(key, new Times(clock + 1, SparkTime.END), () -> time);
                }
            }
        }

        private void handOn(TimerValues times) {
            output = rows.hasNext() ? kernel.handleInputRows(key, rows, times) : Iterator.<InternalRow>empty();
        }

        @Override
        public InternalRow next() {
            InternalRow row = output.next();
            if (phase != Phase.BEFORE && !kernel.numbersByTime()) {
                EndOfInput.putBehind(row, outputSequence);
            }
            return row;
        }
    }
}

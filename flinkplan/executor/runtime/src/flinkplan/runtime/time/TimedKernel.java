package flinkplan.runtime.time;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.kernel.Output;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Place;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.state.WithoutDefaults;
import flinkplan.runtime.watermark.LateRows;
import flinkplan.runtime.watermark.SparkTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An operator that waits for Flink's watermark.
 *
 * <p>A kernel takes in a key's rows in order and says when each is due; it fires when the watermark has reached
 * the earliest of those times. Where the input comes from one task of one source, the watermark moves with each
 * row, as in Flink, else between batches only.
 */
public abstract class TimedKernel extends Kernel {
    private static final StructType TIME = new StructType().add("time", DataTypes.LongType, false);

    private final Output output;
    private final int watermarkOrdinal;
    private final int passedOrdinal;
    private boolean inProcessingTime;
    private int[] sources;
    private boolean passesOn;
    private boolean inOnePass;
    private boolean fromSeveralTasks;
    private LateRows late;

    private transient ValueState<InternalRow> timer;
    private transient AnnouncedWatermark announced;
    private transient RowBuffer ahead;
    private transient List<InternalRow> emitted;
    private transient int count;
    private transient long due;
    private transient long kept;
    private transient long clock;
    private transient boolean isDropped;
    private transient long lateness;

    /**
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds; if not, it is insert-only
     */
    protected TimedKernel(StructType input, StructType columns, boolean changelog) {
        super(input);
        List<String> names = List.of(input.fieldNames());
        this.output = new Output(columns, changelog);
        this.watermarkOrdinal = names.indexOf(Hidden.WATERMARK);
        this.passedOrdinal = names.indexOf(Hidden.PASSED);
    }

    /** Makes the kernel go by the clock: all rows of a batch come at its time, which takes the watermark's place. */
    public final TimedKernel inProcessingTime() {
        inProcessingTime = true;
        return this;
    }

    /**
     * Makes the kernel go by the watermarks among its rows, which come one by one.
     *
     * @param sources those that announce them; none: the tasks of the operator before
     * @param passesOn whether the operator behind goes by them, too
     */
    public final TimedKernel announced(int[] sources, boolean passesOn) {
        this.sources = sources;
        this.passesOn = passesOn;
        return this;
    }

    @Override
    public final void inOnePass() {
        inOnePass = true;
    }

    /**
     * Says that several tasks read the rows that all come in one pass: the watermark of none of them is that of all, so
     * that what waits for it waits for the end, and no rows need be held to learn where they come from.
     */
    public final TimedKernel fromSeveralTasks() {
        fromSeveralTasks = true;
        return this;
    }

    /** Makes the kernel count the rows that it drops. */
    public final TimedKernel counting(LateRows late) {
        this.late = late;
        return this;
    }

    @Override
    public final TimeMode timeMode() {
        return inProcessingTime ? TimeMode.ProcessingTime() : TimeMode.EventTime();
    }

    /** What a kernel keeps ends by the time that it waits for. */
    @Override
    protected final boolean mayExpire() {
        return false;
    }

    /** How many late rows there are where a row is dropped. */
    protected long lateRows(InternalRow row) {
        return 1;
    }

    /**
     * Whether what becomes of a late row depends on what the key has emitted before: then rows that come ahead of the
     * watermark wait for it, as rows of earlier times may come with it.
     */
    protected boolean lateRowsDependOnEmitted() {
        return false;
    }

    /** The column of times by which rows may as well come, so that few of them wait at a time; null: there is none. */
    protected String timeColumn() {
        return null;
    }

    @Override
    public final String takesRowsBy() {
        return fromSeveralTasks && !inProcessingTime ? timeColumn() : null;
    }

    /** Does what is due before a row of a time comes, where rows come by their times, and says when the rest is. */
    protected long passTo(long time) {
        return time > due ? fire(time - 1) : due;
    }

    /** Starts on a key. */
    protected abstract void begin(InternalRow key);

    /** Takes one row in and says when it is due; {@link #NEVER} where nothing waits for it. */
    protected abstract long accept(InternalRow row, byte kind, long watermark);

    /** When a row is due that is taken in although it is late: once the watermark has moved on. */
    protected final long dueWhenLate(long time, long watermark) {
        return announced == null ? Math.max(time, watermark + 1) : time;
    }

    /** Does all that is due by a watermark before {@link #accept} takes in a row that came behind it. */
    protected final void fireBefore(long watermark) {
        due = fire(watermark);
    }

    /**
     * What {@link #accept} is to say of a row that it drops because it comes too late.
     *
     * @param by how late it is, as {@link LateRows#add} takes it
     */
    protected final long drop(long by) {
        isDropped = true;
        lateness = by;
        return NEVER;
    }

    /** Does all that is due by {@code watermark}, and says when the rest is. */
    protected abstract long fire(long watermark);

    /** Ends with a key: the states are to be written now. */
    protected abstract void store();

    /** When the key is due next, of which only {@link #store} may have told all; {@code due}: as it was known before. */
    protected long settled(long due) {
        return due;
    }

    @Override
    public final StructType outputSchema() {
        return passesOn
                ? new Output(output.columns().asNullable(), output.changelog()).schema().add(Hidden.TICK, AnnouncedWatermark.TICK)
                : output.schema();
    }

    /** Whether the key has been waiting for a time since the last batch. */
    protected final boolean isWaiting() {
        return due != NEVER;
    }

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
        WithoutDefaults.run(() -> timer = valueState("timer", TIME, 0));
        announced = sources == null ? null : new AnnouncedWatermark(getHandle(), sources, input());
        if (passedOrdinal >= 0 && sources == null && !inOnePass && lateRowsDependOnEmitted()) {
            WithoutDefaults.run(() -> ahead = buffer("ahead", input()));
        }
    }

    @Override
    public final Iterator<InternalRow> handleInputRows(
            InternalRow key, Iterator<InternalRow> rows, TimerValues timers) {
        clock = timers.getCurrentProcessingTimeInMs();
        if (announced != null) {
            return comes(key, rows.next());
        }
        if (inOnePass && fromSeveralTasks) {
            return new Gradual(key, rows, now(timers));
        }
        long watermark = now(timers);
        long scheduled = start(key);
        List<InternalRow> list = reached(Rows.list(rows), watermark);
        list.sort(order());
        takeAll(list, watermark);
        return end(watermark, scheduled);
    }

    /** Of new rows and those that have waited for the watermark, those that it has reached; the others wait on. */
    private List<InternalRow> reached(List<InternalRow> rows, long watermark) {
        if (ahead == null) {
            return rows;
        }
        List<InternalRow> reached = new ArrayList<>();
        List<InternalRow> waiting = new ArrayList<>();
        ahead.all().forEach(row -> (isAhead(row, watermark) ? waiting : reached).add(row));
        boolean anyReached = !reached.isEmpty();
        for (InternalRow row : rows) {
            if (!isAhead(row, watermark)) {
                reached.add(row);
            } else if (anyReached) {
                waiting.add(row);
            } else {
                ahead.add(row);
            }
        }
        if (anyReached) {
            ahead.replace(waiting);
        }
        return reached;
    }

    /** Whether an operator before has emitted a row at a watermark at which rows of other keys may still come. */
    private boolean isAhead(InternalRow row, long watermark) {
        return !row.isNullAt(passedOrdinal) && row.getLong(passedOrdinal) >= watermark;
    }

    private void takeAll(List<InternalRow> list, long watermark) {
        boolean byRow = comeFromOnePartition(list);
        // OVER tells how far a row's own key is; rows of other keys may come with the watermark of the batch
        long known = passedOrdinal < 0 || inOnePass ? NEVER : watermark;
        long before = Long.MIN_VALUE;
        for (InternalRow row : list) {
            long atRow = watermarkAt(row, watermark);
            long passed = Math.min(atRow, known);
            if (byRow && passed >= due && atRow > before) { // what comes late waits for the watermark to move
                due = fire(passed);
            }
            before = atRow;
            takeIn(row, atRow);
        }
    }

    private void takeIn(InternalRow row, long watermark) {
        isDropped = false;
        long rowDue = accept(row, kind(row), watermark); // which may do what was due before
        due = Math.min(due, rowDue);
        if (isDropped && late != null) {
            late.add(lateRows(row), lateness);
        }
    }

    /** What comes of a key's rows, made as it is asked for. */
    private final class Gradual extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final long watermark;
        private final long scheduled;
        private final boolean byTime = takesRowsBy() != null;
        private final int time = byTime ? input().fieldIndex(takesRowsBy()) : -1;
        private int place;
        private boolean isOver;

        Gradual(InternalRow key, Iterator<InternalRow> rows, long watermark) {
            this.rows = rows;
            this.watermark = watermark;
            this.scheduled = start(key);
        }

        @Override
        public boolean hasNext() {
            while (place == emitted.size() && !isOver) {
                emitted.clear();
                place = 0;
                if (rows.hasNext()) {
                    take(rows.next());
                } else {
                    end(watermark, scheduled);
                    isOver = true;
                }
            }
            return place < emitted.size();
        }

        private void take(InternalRow row) {
            long atRow = byTime ? Long.MIN_VALUE : watermarkAt(row, watermark);
            if (byTime) {
                due = passTo(row.getLong(time));
            }
            takeIn(row, atRow);
        }

        @Override
        public InternalRow next() {
            return emitted.get(place++);
        }
    }

    /** Takes in a row, or a watermark, by which it fires what is due. */
    private Iterator<InternalRow> comes(InternalRow key, InternalRow row) {
        limitCache();
        if (announced.isTick(row)) {
            List<InternalRow> fired = new ArrayList<>();
            if (announced.advance(row)) {
                fired.addAll(drained(announced.current()));
                if (passesOn) {
                    fired.add(hidden(Rows.nulls(output.columns().length()), RowKind.INSERT, 0, announced.own()));
                }
            }
            ImplicitGroupingKeyTracker.setImplicitKey(key);
            return CollectionConverters.asScala(fired.iterator());
        }
        long watermark = announced.current(key);
        long scheduled = start(AnnouncedWatermark.plain(key, input()));
        takeIn(row, watermark);
        return end(Long.MIN_VALUE, scheduled); // what comes late waits for the watermark to move
    }

    /** What all keys emit by a watermark, in the order of the times at which they do. */
    private List<InternalRow> drained(long watermark) {
        List<InternalRow> all = new ArrayList<>();
        while (true) {
            List<AnnouncedWatermark.Expired> earliest = announced.earliest(timerAt(watermark));
            if (earliest.isEmpty()) {
                return all;
            }
            for (AnnouncedWatermark.Expired expired : earliest) {
                ImplicitGroupingKeyTracker.setImplicitKey(expired.key());
                limitCache();
                end(expired.time() - SparkTime.SHIFT, start(AnnouncedWatermark.plain(expired.key(), input())));
                all.addAll(emitted);
            }
        }
    }

    @Override
    public final Iterator<InternalRow> handleExpiredTimer(
            InternalRow key, TimerValues timers, ExpiredTimerInfo expired) {
        clock = timers.getCurrentProcessingTimeInMs();
        long watermark = now(timers);
        start(key);
        if (ahead != null) {
            List<InternalRow> list = reached(List.of(), watermark);
            list.sort(order());
            takeAll(list, watermark);
        }
        return end(watermark, NEVER);
    }

    /**
     * Puts rows that are kept in the order they came. Numbers of rows of several batches cannot be compared, but those
     * stand in that order already; one pass over bounded rows hands them in the order of its tasks.
     */
    protected final void inOrder(List<InternalRow> rows) {
        if (inOnePass) {
            rows.sort(order());
        }
    }

    /** The time of the batch. */
    protected final long clock() {
        return clock;
    }

    private long now(TimerValues timers) {
        return inProcessingTime
                ? timers.getCurrentProcessingTimeInMs()
                : timers.getCurrentWatermarkInMs() - SparkTime.SHIFT;
    }

    /** When Spark is to call back for a time. */
    private long timerAt(long time) {
        return inProcessingTime ? time : time + SparkTime.SHIFT;
    }

    private long timerOf(long due) {
        return due == NEVER ? NEVER : timerAt(due);
    }

    /** The watermark when a row arrived; rows that an operator before emits are ahead of the watermark. */
    private long watermarkAt(InternalRow row, long watermark) {
        if (inProcessingTime) {
            return Long.MIN_VALUE;
        }
        if (passedOrdinal >= 0 && !row.isNullAt(passedOrdinal)) {
            return row.getLong(passedOrdinal);
        }
        if (watermarkOrdinal < 0) {
            return Long.MIN_VALUE;
        }
        return row.isNullAt(watermarkOrdinal) ? watermark : Math.max(watermark, row.getLong(watermarkOrdinal));
    }

    /** Whether the rows that carry a watermark, in order, all come from one task of a source, or from OVER windows. */
    private boolean comeFromOnePartition(List<InternalRow> rows) {
        if (inProcessingTime || watermarkOrdinal < 0) {
            return !inProcessingTime && passedOrdinal >= 0;
        }
        List<InternalRow> timed = rows.stream().filter(row -> !row.isNullAt(watermarkOrdinal)).toList();
        return !timed.isEmpty() && partition(timed.get(0)) == partition(timed.get(timed.size() - 1));
    }

    private long start(InternalRow key) {
        emitted = new ArrayList<>();
        count = 0;
        kept = readDue();
        due = kept;
        begin(key);
        if (ahead != null) {
            ahead.begin();
        }
        return due;
    }

    /** Fires what is due, and sets the timer to what comes next; {@code scheduled}: what it is set to. */
    private Iterator<InternalRow> end(long watermark, long scheduled) {
        if (watermark >= due) {
            due = fire(watermark);
        }
        if (ahead != null) {
            for (InternalRow row : ahead.all()) {
                due = Math.min(due, row.getLong(passedOrdinal) + 1);
            }
            ahead.store();
        }
        store();
        due = settled(due);
        if (due != scheduled) {
            reschedule(timerOf(scheduled), timerOf(due));
        }
        if (due != kept) {
            writeDue(due);
        }
        return CollectionConverters.asScala(emitted.iterator());
    }

    /** The time that the key waits for since the last batch, or {@link #NEVER}. */
    protected long readDue() {
        InternalRow scheduled = timer.get();
        return scheduled == null ? NEVER : scheduled.getLong(0);
    }

    /** Keeps it; called after {@link #store} where it has changed. */
    protected void writeDue(long due) {
        if (due == NEVER) {
            timer.clear();
        } else {
            timer.update(Rows.of(due));
        }
    }

    /** The time that the key waits for as it is now. */
    protected final long due() {
        return due;
    }

    /** Emits a row; its columns must not change afterwards. */
    protected final void emit(byte kind, InternalRow row, long sequence) {
        emitted.add(hidden(row, kind, sequence, null));
    }

    private InternalRow hidden(InternalRow row, byte kind, long sequence, InternalRow tick) {
        InternalRow made = output.row(row, kind, Place.nth(count++), sequence);
        return passesOn ? new JoinedRow(made, Rows.of(tick)) : made;
    }

    /** Rows that are kept with the key. */
    protected final RowBuffer buffer(String name, StructType row) {
        return new RowBuffer(listState(name, row, 0));
    }
}

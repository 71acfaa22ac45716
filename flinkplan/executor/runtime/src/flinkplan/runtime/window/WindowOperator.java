package flinkplan.runtime.window;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.LateRows;
import flinkplan.runtime.watermark.SparkTime;
import flinkplan.runtime.window.KeyState.Timer;
import java.io.Serializable;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Flink's window operator, with an evictor or without.
 *
 * <p>The input's columns are the key, {@code __time} (the row's time in milliseconds, NULL where it has none), {@code
 * __gap} (its own gap of a session, likewise), and the row as one struct; then the hidden ones. Each row carries
 * Flink's watermark as it arrived, so that what a key's rows bring about is the same wherever batches begin and end.
 *
 * <p>The output has the function's columns, the window's, {@code __late} (a row that came too late, as it was, with
 * nothing else), and the hidden ones: the watermark at which a row was emitted, and what brought it about: the time of
 * a timer, or the row at that watermark.
 */
public final class WindowOperator extends Kernel {
    private static final InternalRow IN_MEMORY = Rows.of();

    private final Spec spec;
    private final Assigner assigner;
    private final Trigger trigger;
    private final Evictor evictor;
    private final Function function;
    private final StructType row;
    private final int timeOrdinal;
    private final int watermarkOrdinal;
    private LateRows dropped;

    private transient StateCodec codec;
    private transient ValueState<InternalRow> state;
    private transient ContentsStore contents;
    private transient InternalRow key;
    private transient KeyState own;
    private transient boolean inMemory;
    private transient KeyContext context;
    private transient boolean incremental;
    private transient boolean joins;
    private transient Emissions emissions;
    private transient long atBatch;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the function's columns
     * @param evictor null: none
     * @param lateness how much later than a window's end (ms) a row may still come
     * @param late whether rows that are late are handed on
     * @param counts whether firings are counted
     */
    public record Spec(
            StructType columns,
            Assigner assigner,
            Trigger trigger,
            Evictor evictor,
            Function function,
            long lateness,
            boolean late,
            Ttls ttls,
            Timing timing,
            boolean counts)
            implements Serializable {}

    public WindowOperator(StructType input, Spec spec) {
        super(input);
        this.spec = spec;
        this.assigner = spec.assigner;
        this.trigger = spec.trigger;
        this.evictor = spec.evictor;
        this.function = spec.function;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
        this.watermarkOrdinal = List.of(input.fieldNames()).indexOf(Hidden.WATERMARK);
        this.row = Rows.struct(input, timeOrdinal + 2);
    }

    /** Makes the operator count the rows that it drops. */
    public WindowOperator counting(LateRows late) {
        dropped = late;
        return this;
    }

    /**
     * What brings something about besides rows.
     *
     * @param clock whether the clock does
     * @param events whether the watermark does
     * @param ordered whether rows come from {@link EmissionOrder}: before Spark's watermark, not behind it
     */
    public record Timing(boolean clock, boolean events, boolean ordered) implements Serializable {}

    @Override
    public StructType outputSchema() {
        return Emissions.schema(spec.columns(), row);
    }

    /** Spark has either timers of event time, or states that expire and timers of the clock. */
    @Override
    public TimeMode timeMode() {
        return inEventTime() ? TimeMode.EventTime() : TimeMode.ProcessingTime();
    }

    private boolean inEventTime() {
        return spec.timing().events() && !spec.timing().clock();
    }

    @Override
    protected void open() {
        function.open();
        emissions = new Emissions(spec.columns(), assigner, spec.counts());
        StructType accumulator = evictor == null ? function.accumulator() : null;
        incremental = accumulator != null;
        joins = assigner.merges()
                && assigner.eventTime()
                && trigger.firesAtEnd()
                && incremental
                && !function.orderMatters();
        codec = new StateCodec(row, accumulator);
        state = valueState("windows", codec.schema(), spec.ttls().longest(assigner.merges(), spec.counts()));
        var chunks = mapState("rows", ContentsStore.CHUNK, ContentsStore.rows(row), spec.ttls().contents());
        contents = new ContentsStore(function, incremental, row, chunks, spec.ttls().contents());
    }

    /** Then what is kept of a key stays as it is: it is called for again before any other. */
    @Override
    public void inOnePass() {
        inMemory = true;
    }

    // ---------------------------------------------------------------- a key's rows and timers

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> input, TimerValues timers) {
        List<InternalRow> list = Rows.list(input);
        list.sort(order());
        begin(key, timers);
        boolean byRow = comeFromOnePartition(list);
        if (!byRow && canJoin(list)) {
            list.sort(Comparator.comparingLong(this::time));
            SessionGroups runs = new SessionGroups(this::accept);
            list.forEach(each -> runs.add(session(each), element(each)));
            runs.end();
        } else {
            for (InternalRow each : list) {
                if (byRow && !each.isNullAt(watermarkOrdinal)) {
                    advance(Math.max(context.watermark, each.getLong(watermarkOrdinal)));
                }
                accept(each);
            }
        }
        advance(atBatch);
        return end();
    }

    @Override
    public Iterator<InternalRow> handleExpiredTimer(InternalRow key, TimerValues timers, ExpiredTimerInfo expired) {
        begin(key, timers);
        own.scheduled = NEVER;
        advance(atBatch);
        return end();
    }

    /** Takes up a key, and does what has become due since the last time. */
    private void begin(InternalRow key, TimerValues timers) {
        this.key = key;
        InternalRow saved = state.get();
        if (saved == null) {
            own = new KeyState();
        } else if (!inMemory) {
            own = codec.read(saved);
        }
        context = new KeyContext(own, timers.getCurrentProcessingTimeInMs());
        context.watermark = own.watermark;
        contents.begin(own, context.clock);
        emissions.begin(own, context.clock);
        forgetExpired();
        if (own.lateness != spec.lateness()) {
            moveCleanups();
        }
        atBatch = spec.timing().events() || watermarkOrdinal >= 0 ? watermarkOf(timers) : Long.MIN_VALUE;
        if (!spec.timing().ordered()) {
            advance(atBatch);
        }
        advanceClock();
    }

    private static long watermarkOf(TimerValues timers) {
        return SparkTime.watermark(timers.getCurrentWatermarkInMs());
    }

    /** Whether all rows come from one task of a source, so that the watermark moves with each of them. */
    private boolean comeFromOnePartition(List<InternalRow> list) {
        return watermarkOrdinal >= 0
                && partition(list.get(0)) == partition(list.get(list.size() - 1));
    }

    private void advance(long to) {
        if (to <= context.watermark) {
            return;
        }
        context.watermark = to;
        while (!own.eventTimers.isEmpty() && own.eventTimers.first().time() <= to) {
            Timer timer = own.eventTimers.pollFirst();
            emissions.byTimer(timer.time());
            onTimer(timer, true);
        }
    }

    private void advanceClock() {
        while (!own.clockTimers.isEmpty() && own.clockTimers.first().time() <= context.clock) {
            Timer timer = own.clockTimers.pollFirst();
            emissions.byTimer(context.watermark);
            onTimer(timer, false);
        }
    }

    private void onTimer(Timer timer, boolean inEventTime) {
        Window window = timer.window();
        if (assigner.merges() && !own.merged.containsKey(window)) {
            return; // of a window that has gone
        }
        int result = inEventTime
                ? trigger.onEventTime(timer.time(), window, context)
                : trigger.onClock(timer.time(), window, context);
        act(result, window);
        if (inEventTime == assigner.eventTime() && timer.time() == cleanupTime(window)) {
            clearAll(window);
        }
    }

    private long time(InternalRow input) {
        return input.isNullAt(timeOrdinal) ? Long.MIN_VALUE : input.getLong(timeOrdinal);
    }

    private long gap(InternalRow input) {
        return input.isNullAt(timeOrdinal + 1) ? 0 : input.getLong(timeOrdinal + 1);
    }

    private Element element(InternalRow input) {
        return new Element(input.getStruct(timeOrdinal + 2, row.length()), time(input));
    }

    private Window session(InternalRow input) {
        return assigner.assign(time(input), gap(input)).get(0);
    }

    /**
     * Whether rows may be joined to sessions among themselves, before these meet the ones that are kept: nobody can
     * tell then in which order the rows came.
     */
    private boolean canJoin(List<InternalRow> list) {
        return joins && list.stream().allMatch(each -> session(each).maxTimestamp() > context.watermark);
    }

    private void accept(Window session, List<Element> elements) {
        if (inMemory && !spec.timing().ordered()) { // a batch has all rows, and those behind the end of input are late
            emissions.byTimer(session.maxTimestamp());
            InternalRow bounds = emissions.bounds(session);
            function.emit(key, elements, result -> emissions.resultAtEnd(result, bounds));
            return;
        }
        Window window = merge(session);
        contents.add(stateWindow(window), elements);
        Element last = elements.get(elements.size() - 1);
        act(trigger.onElement(last.row(), last.time(), window, context), window);
        registerCleanup(window);
    }

    private void accept(InternalRow input) {
        emissions.byRow(sequence(input), context.watermark, spec.timing().events());
        Element element = element(input);
        boolean skipped = true;
        for (Window assigned : assigner.assign(assigner.eventTime() ? element.time() : context.clock, gap(input))) {
            Window window = assigner.merges() ? merge(assigned) : assigned;
            if (assigner.eventTime() && cleanupTime(window) <= context.watermark) {
                own.merged.remove(window);
                continue;
            }
            skipped = false;
            contents.add(stateWindow(window), List.of(element));
            act(trigger.onElement(element.row(), element.time(), window, context), window);
            registerCleanup(window);
        }
        if (skipped && isLate(element)) {
            if (spec.late()) {
                emissions.late(element.row());
            } else if (dropped != null) {
                dropped.add(1, context.watermark - plus(element.time(), spec.lateness()));
            }
        }
    }

    private boolean isLate(Element element) {
        return assigner.eventTime() && plus(element.time(), spec.lateness()) <= context.watermark;
    }

    /** Adds a window to those that merge; the one that it is in from now on. */
    private Window merge(Window added) {
        own.mergedAt = context.clock;
        return MergingWindowSet.add(added, own.merged, (result, merged, target, sources) -> {
            trigger.onMerge(result, merged, context);
            for (Window window : merged) {
                trigger.clear(window, context);
                deleteCleanup(window);
            }
            contents.merge(target, sources);
        });
    }

    // ---------------------------------------------------------------- firing

    private void act(int result, Window window) {
        if ((result & Trigger.FIRE) != 0) {
            fire(window);
        }
        if ((result & Trigger.PURGE) != 0) {
            contents.remove(stateWindow(window));
        }
    }

    private void fire(Window window) {
        Window held = stateWindow(window);
        Contents inWindow = contents.get(held);
        if (inWindow == null || inWindow.isEmpty()) {
            return;
        }
        InternalRow bounds = emissions.bounds(window);
        if (incremental) {
            function.emit(key, contents.accumulator(inWindow), result -> emissions.result(result, bounds));
            return;
        }
        List<Element> elements = contents.all(held, inWindow);
        if (evictor == null) {
            function.emit(key, elements, result -> emissions.result(result, bounds));
            return;
        }
        int before = elements.size();
        evictor.before(elements);
        function.emit(key, List.copyOf(elements), result -> emissions.result(result, bounds));
        evictor.after(elements);
        contents.replace(held, inWindow, elements.size() < before);
    }

    private Window stateWindow(Window window) {
        return assigner.merges() ? own.merged.get(window) : window;
    }

    // ---------------------------------------------------------------- the end of windows

    private void clearAll(Window window) {
        contents.remove(stateWindow(window));
        trigger.clear(window, context);
        own.triggers.remove(window);
        own.firings.remove(window);
        own.merged.remove(window);
    }

    private long cleanupTime(Window window) {
        return assigner.eventTime() ? plus(window.maxTimestamp(), spec.lateness()) : window.maxTimestamp();
    }

    private static long plus(long time, long lateness) {
        long sum = time + lateness;
        return sum < time ? Long.MAX_VALUE : sum;
    }

    private void registerCleanup(Window window) {
        long time = cleanupTime(window);
        if (time == Long.MAX_VALUE) {
            return;
        }
        if (assigner.eventTime()) {
            context.registerEventTimer(window, time);
        } else {
            context.registerClockTimer(window, time);
        }
    }

    private void deleteCleanup(Window window) {
        long time = cleanupTime(window);
        if (assigner.eventTime()) {
            context.deleteEventTimer(window, time);
        } else {
            context.deleteClockTimer(window, time);
        }
    }

    /** Lets windows end by the lateness that is asked for now. */
    private void moveCleanups() {
        own.lateness = spec.lateness();
        Set<Window> windows = new HashSet<>(assigner.merges() ? own.merged.keySet() : own.contents.keySet());
        windows.addAll(own.triggers.keySet());
        windows.addAll(own.firings.keySet());
        for (Window window : windows) {
            if (assigner.eventTime() && cleanupTime(window) <= own.watermark) {
                clearAll(window);
            } else {
                registerCleanup(window);
            }
        }
    }

    /** Drops what is older than its TTL: as if it had never been written. */
    private void forgetExpired() {
        contents.forgetExpired();
        own.forgetExpired(spec.ttls(), context.clock);
    }

    private Iterator<InternalRow> end() {
        contents.end();
        own.triggers.values().removeIf(kept -> {
            if (kept.state.takeChanged()) {
                kept.writtenAt = context.clock;
            }
            return kept.state.isEmpty();
        });
        own.watermark = context.watermark;
        long before = own.scheduled;
        long due = nextCall();
        if (due != before) {
            reschedule(before, due);
            own.scheduled = due;
        }
        if (own.isEmpty()) {
            state.clear();
        } else {
            state.update(inMemory ? IN_MEMORY : codec.write(own));
        }
        return CollectionConverters.asScala(emissions.rows().iterator());
    }

    /** The watermark that fires the first timer; one that was set behind it fires when that moves again. */
    private long nextEvent() {
        return Math.max(own.eventTimers.first().time(), plus(own.watermark, 1));
    }

    /** When Spark is to call back for the key, in its own time. */
    private long nextCall() {
        if (inEventTime()) {
            return own.eventTimers.isEmpty() ? NEVER : SparkTime.timer(nextEvent());
        }
        if (!own.eventTimers.isEmpty()) {
            return context.clock + 1; // nothing but the next batch tells whether the watermark has moved
        }
        return own.clockTimers.isEmpty() ? NEVER : own.clockTimers.first().time();
    }
}

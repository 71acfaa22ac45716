package flinkplan.runtime.kernel;

import flinkplan.runtime.catalyst.Interpreted;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Place;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.state.CachedObjects;
import flinkplan.runtime.state.NoTimers;
import flinkplan.runtime.state.StateCache;
import flinkplan.runtime.state.StateEncoders;
import flinkplan.runtime.state.StateVariables;
import flinkplan.runtime.state.Variables;
import flinkplan.runtime.state.WithoutDefaults;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleState;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * An operator on the rows of one key at a time: what it reads, and its states.
 *
 * <p>The input's columns are the key, others, then the hidden ones. What else there is to know of an operator stands in
 * a record {@code Spec} of its class, the other argument of its constructor. Of both a checkpoint holds nothing: it
 * knows the states by their names and schemas.
 */
public abstract class Kernel extends StatefulProcessor<InternalRow, InternalRow, InternalRow> implements States {
    /** A time that does not come. */
    protected static final long NEVER = Long.MAX_VALUE;

    private final StructType input;
    private final int kindOrdinal;
    private final int placeOrdinal;
    private final int sequenceOrdinal;
    private final int rightOrdinal;

    private long cachedBytes;

    private transient Comparator<InternalRow> order;
    private transient StateCache cache;
    private transient Variables variables;

    /** @param input the schema of the input */
    protected Kernel(StructType input) {
        List<String> names = List.of(input.fieldNames());
        this.input = input;
        this.kindOrdinal = names.indexOf(Hidden.KIND);
        this.placeOrdinal = names.indexOf(Hidden.ORDER);
        this.sequenceOrdinal = names.indexOf(Hidden.SEQUENCE);
        this.rightOrdinal = names.indexOf(Hidden.RIGHT);
    }

    /** Declares the states; called once per task and, to learn the states' schemas, on the driver. */
    protected abstract void open();

    /** The schema of what is emitted. */
    public abstract StructType outputSchema();

    /** What timers go by. */
    public abstract TimeMode timeMode();

    /** Whether it is called again when time has passed. */
    public boolean setsTimers() {
        return true;
    }

    /** Whether the numbers of its rows say when they come, also of those that come when input has ended. */
    public boolean numbersByTime() {
        return false;
    }

    /**
     * The column of times in whose order all rows of a key are to come when input has ended; null: they are to come in the
     * order of their source.
     */
    public String takesRowsBy() {
        return null;
    }

    /** Says that all rows of a key come in their order, and before those of any other key. */
    public void inOnePass() {}

    /**
     * Says that rows come one by one, in batches that last.
     *
     * @param cachedBytes what rows of states may take in memory, in each task
     */
    public final void inRealTime(long cachedBytes) {
        this.cachedBytes = cachedBytes;
    }

    /** Has the variables of its states opened by another than itself; called before {@link #init}. */
    public final void openedBy(Variables variables) {
        this.variables = variables;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        StatefulProcessorHandleImpl handle =
                getHandle() instanceof StatefulProcessorHandleImpl ? (StatefulProcessorHandleImpl) getHandle() : null;
        cache = cachedBytes > 0 && handle != null ? new StateCache(handle, cachedBytes) : null;
        order = inputOrder();
        WithoutDefaults.run(this::open);
        if (handle != null && !timeMode.equals(TimeMode.None())) {
            WithoutDefaults.run(() -> openTimers(handle, setsTimers()));
            if (cache != null && !setsTimers()) {
                NoTimers.of(handle);
            }
        }
        StateEncoders encoders = StateEncoders.of(handle, variables != null);
        if (encoders != null) {
            encoders.useForAll();
        }
    }

    /**
     * Has Spark open the state of its timers now, which it does later otherwise, outside of {@link WithoutDefaults}.
     *
     * <p>For timers that nobody sets it need not generate code, which for each task takes longer than what few rows do.
     */
    private static void openTimers(StatefulProcessorHandleImpl handle, boolean areSet) {
        handle.setHandleState(StatefulProcessorHandleState.INITIALIZED());
        if (areSet) {
            handle.getExpiredTimers(Long.MIN_VALUE, Option.empty()).hasNext();
        } else {
            Interpreted.run(() -> handle.getExpiredTimers(Long.MIN_VALUE, Option.empty()).hasNext());
        }
        handle.setHandleState(StatefulProcessorHandleState.CREATED());
    }

    @Override
    public void close() {
        if (cache != null) {
            cache.close();
        }
    }

    /** The schema of the input. */
    protected final StructType input() {
        return input;
    }

    /** Whether the input has row kinds; if not, it is insert-only. */
    protected final boolean readsChangelog() {
        return kindOrdinal >= 0;
    }

    /** The kind of a row of the input. */
    protected final byte kind(InternalRow row) {
        return kindOrdinal < 0 ? RowKind.INSERT : row.getByte(kindOrdinal);
    }

    /** The place of a row in the order of its source. */
    protected final long sequence(InternalRow row) {
        return row.getLong(sequenceOrdinal);
    }

    /** The {@link Place} of a row among those of its sequence number. */
    protected final long place(InternalRow row) {
        return placeOrdinal < 0 ? Place.WHOLE : row.getLong(placeOrdinal);
    }

    /** The task of a source that a row comes from. */
    protected final long partition(InternalRow row) {
        return sequence(row) >> Hidden.PARTITION_SHIFT;
    }

    /**
     * The order of rows: as they came, of one number by their places, and where these are the same retractions first, and
     * the left input's before the right one's.
     */
    protected final Comparator<InternalRow> order() {
        return order;
    }

    /** The same of a kernel that has not been opened. */
    protected final Comparator<InternalRow> inputOrder() {
        Comparator<InternalRow> made = Comparator.comparingLong(this::sequence);
        if (placeOrdinal >= 0) {
            made = made.thenComparingLong(this::place);
        }
        if (readsChangelog()) {
            made = made.thenComparing(row -> !RowKind.retracts(kind(row)));
        }
        return rightOrdinal < 0 ? made : made.thenComparing(row -> row.getBoolean(rightOrdinal));
    }

    /** Whether states may expire, which they cannot beside timers of event time. */
    protected boolean mayExpire() {
        return !timeMode().equals(TimeMode.EventTime());
    }

    /** Has Spark call at {@code due} instead of {@code before}, of which {@link #NEVER} stands for no call. */
    protected final void reschedule(long before, long due) {
        if (before != NEVER) {
            getHandle().deleteTimer(before);
        }
        if (due != NEVER) {
            getHandle().registerTimer(due);
        }
    }

    /**
     * Objects of keys that stay in memory from row to row, where states do; null where they do not.
     *
     * @param reading makes one of the states of the key that Spark is at
     * @param writing updates these states
     */
    protected final <T> CachedObjects<T> cached(Supplier<T> reading, Consumer<T> writing) {
        return cache == null ? null : cache.objects(reading, writing);
    }

    /** Makes room in memory for another key, before any state of it is asked for. */
    protected final void limitCache() {
        if (cache != null) {
            cache.limit();
        }
    }

    /** A value that lives with the key; {@code ttl} in milliseconds, 0 = never expires. */
    public final ValueState<InternalRow> valueState(String name, StructType value, long ttl) {
        return states().value(name, value, ttl);
    }

    /** The same of a list. */
    public final ListState<InternalRow> listState(String name, StructType value, long ttl) {
        return states().list(name, value, ttl);
    }

    @Override
    public final MapState<InternalRow, InternalRow> mapState(String name, StructType key, StructType value, long ttl) {
        return states().map(name, key, value, ttl);
    }

    private StateVariables states() {
        Variables opened = variables == null ? new Variables(getHandle()) : variables;
        return new StateVariables(getHandle(), opened, mayExpire(), cache);
    }
}

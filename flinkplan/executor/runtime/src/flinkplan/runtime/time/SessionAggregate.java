package flinkplan.runtime.time;

import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.time.WindowSpan.Window;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates the rows of each session: the key (unless it is a constant), the results, start and end.
 *
 * <p>They are kept because sessions merge, unless they come by their times. A session that Flink has begun is known by
 * its accumulators: among the rows there is one with its bounds, whose number leads to them. Those of a DISTINCT call
 * are made anew of the values that it has seen, each of which has such a row, too.
 */
public final class SessionAggregate extends WindowKernel {
    /** Rows with this number or a lower one stand for the accumulators of a session, or a value that it has seen. */
    private static final long LAST_ACCUMULATED = Long.MIN_VALUE >> 1;

    private static final int NO_CALL = -1;

    private static final StructType NUMBER = new StructType().add("number", DataTypes.LongType, false);

    private final Spec spec;
    private transient MapState<InternalRow, InternalRow> accumulated;
    private transient InternalRow key;
    /** The session that goes on, where rows come by their times; null: there is none. */
    private transient Window open;
    private transient long count;
    private transient Comparator<InternalRow> keptOrder;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param keyed whether the key is emitted
     */
    public record Spec(StructType columns, WindowSpan span, Aggregation aggregation, boolean keyed)
            implements Serializable {}

    public SessionAggregate(StructType input, Spec spec) {
        super(input, spec.columns, spec.span);
        this.spec = spec;
    }

    @Override
    protected void open() {
        super.open();
        spec.aggregation().open(null);
        accumulated = mapState("accumulated", NUMBER, accumulatedSchema(), 0);
    }

    private StructType accumulatedSchema() {
        return new StructType()
                .add("count", DataTypes.LongType, false)
                .add("call", DataTypes.IntegerType, false)
                .add("accumulators", spec.aggregation().schema());
    }

    /**
     * The open sessions of a key, each with its start, end, number of rows and accumulators.
     *
     * @param rows an array of the rows that are kept
     * @param accumulated an array of what rows among them stand for, as structs of the map's keys and values
     */
    public Column openSessions(Column rows, Column accumulated) {
        StructType session = new StructType()
                .add("start", DataTypes.LongType, false)
                .add("end", DataTypes.LongType, false)
                .add("count", DataTypes.LongType, false)
                .add("accumulators", spec.aggregation().schema(), false);
        StructType standing = new StructType().add("number", NUMBER).add("session", accumulatedSchema());
        return MethodCall.deterministic(
                this,
                "sessions",
                DataTypes.createArrayType(session, false),
                false,
                List.of(rows, accumulated),
                List.of(DataTypes.createArrayType(input()), DataTypes.createArrayType(standing)));
    }

    /** What {@link #openSessions} calls; the kernel has no states then. */
    public ArrayData sessions(ArrayData rows, ArrayData accumulated) {
        if (keptOrder == null) {
            keptOrder = inputOrder();
            spec.aggregation().open(null);
        }
        Map<Long, InternalRow> standing = new HashMap<>();
        for (int i = 0; i < accumulated.numElements(); i++) {
            InternalRow entry = accumulated.getStruct(i, 2);
            InternalRow session = entry.getStruct(1, accumulatedSchema().length());
            standing.put(entry.getStruct(0, 1).getLong(0), session);
        }
        List<InternalRow> kept = new ArrayList<>();
        for (int i = 0; i < rows.numElements(); i++) {
            kept.add(rows.getStruct(i, input().length()));
        }
        List<Object> sessions = new ArrayList<>();
        for (Window window : spec.span().windows(kept)) {
            window.rows().sort(keptOrder);
            accumulate(window.rows(), standing::remove);
            sessions.add(Rows.of(window.start(), window.end(), count, spec.aggregation().save().copy()));
        }
        return new GenericArrayData(sessions.toArray());
    }

    @Override
    protected void begin(InternalRow key) {
        super.begin(key);
        this.key = key;
        this.open = null;
    }

    @Override
    protected String timeColumn() {
        return readsChangelog() || spec.aggregation().orderMatters() ? null : Hidden.START;
    }

    @Override
    protected long passTo(long start) {
        if (open == null || start <= open.end()) {
            return due();
        }
        emit(open);
        open = null;
        return NEVER;
    }

    @Override
    protected long accept(InternalRow row, byte kind, long watermark) {
        if (takesRowsBy() == null) {
            return super.accept(row, kind, watermark);
        }
        if (open == null) {
            spec.aggregation().begin();
            count = 0;
        }
        add(row);
        long start = open == null ? spec.span().start(row) : open.start();
        open = new Window(start, spec.span().end(row), List.of());
        return spec.span().fires(open.end());
    }

    @Override
    protected long fire(long watermark) {
        if (takesRowsBy() == null) {
            return super.fire(watermark);
        }
        return open == null ? NEVER : passTo(Long.MAX_VALUE);
    }

    private void add(InternalRow row) {
        add(row, this::takeAccumulated);
    }

    private InternalRow takeAccumulated(long number) {
        InternalRow key = Rows.of(number);
        InternalRow session = accumulated.getValue(key);
        accumulated.removeKey(key);
        return session;
    }

    /** Adds a row; {@code standing} gives what rows stand for. */
    private void add(InternalRow row, LongFunction<InternalRow> standing) {
        if (sequence(row) <= LAST_ACCUMULATED) {
            take(row, standing.apply(sequence(row)));
        } else if (RowKind.retracts(kind(row))) {
            spec.aggregation().retract(row);
            count--;
        } else {
            spec.aggregation().add(row);
            count++;
        }
    }

    /** Takes in the accumulators, or the value, that a row stands for. */
    private void take(InternalRow row, InternalRow session) {
        int call = session.getInt(1);
        if (call != NO_CALL) {
            for (long times = session.getLong(0); times > 0; times--) {
                spec.aggregation().add(call, row);
            }
            return;
        }
        InternalRow accumulators = session.getStruct(2, spec.aggregation().schema().length());
        if (count == 0) {
            spec.aggregation().begin(accumulators, 0);
        } else {
            spec.aggregation().merge(accumulators);
        }
        count += session.getLong(0);
    }

    @Override
    void close(Window window) {
        accumulate(window.rows(), this::takeAccumulated);
        emit(window);
    }

    /** Aggregates the rows of a session, which stand in the order they came. */
    private void accumulate(List<InternalRow> rows, LongFunction<InternalRow> standing) {
        spec.aggregation().begin();
        count = 0;
        boolean inOrder = spec.aggregation().orderMatters();
        for (InternalRow row : inOrder ? SessionMerges.inOrder(rows, spec.span()) : rows) {
            add(row, standing);
        }
    }

    private void emit(Window window) {
        if (count > 0) {
            InternalRow results = new JoinedRow(spec.aggregation().values(), Rows.of(window.start(), window.end()));
            emit(RowKind.INSERT, spec.keyed() ? new JoinedRow(key, results) : results, window.end());
        }
    }
}

package flinkplan.runtime.rank;

import flinkplan.runtime.ChangelogKernel;
import flinkplan.runtime.Hidden;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Top-N of each partition: emits how the ranked rows of a partition differ after a micro-batch, or after each row,
 * from before.
 *
 * <p>The state maps each row (or its primary key) to the row and, for each time that it is there, its place among rows
 * that are equal in the order. Input rows are the partition's columns, then the row as one struct.
 */
public final class TopN extends ChangelogKernel {
    /** The number of a row of an earlier micro-batch. */
    private static final long BEFORE = Long.MIN_VALUE;

    private final Spec spec;
    private final StructType row;
    private final int rowOrdinal;

    private transient MapState<InternalRow, InternalRow> state;
    private transient UnsafeProjection keyOf;
    private transient BaseOrdering ordering;
    private transient Map<InternalRow, Entry> entries;
    private transient TreeSet<Occurrence> sorted;
    private transient Set<InternalRow> stored;
    private transient Set<InternalRow> changed;
    private transient List<Ranked> before;
    private transient long arrivals;

    /** A row of the partition, and its places, the earliest first. */
    private record Entry(InternalRow row, Deque<Long> arrivals) {
        Entry(InternalRow row) {
            this(row, new ArrayDeque<>(1));
        }

        void leave(long arrival) {
            if (arrivals.getLast() == arrival) {
                arrivals.removeLast();
            } else {
                arrivals.removeFirstOccurrence(arrival);
            }
        }
    }

    /** A row at one of its places, and the number it has come there with. */
    private record Occurrence(InternalRow key, InternalRow row, long arrival, long number) {}

    /** A row with its rank, and the number it has come with. */
    private record Ranked(long rank, InternalRow row, long number) {
        boolean isAs(Ranked other) {
            return rank == other.rank && row.equals(other.row);
        }
    }

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the ranked rows
     * @param outputNumber whether the rank is emitted as one more column
     * @param updateBefore whether the row that an update replaces is emitted
     * @param folds whether the changes of a micro-batch come to one
     * @param changelog whether the output has row kinds
     */
    public record Spec(
            StructType row,
            Order order,
            Range range,
            Keeping keeping,
            boolean outputNumber,
            boolean updateBefore,
            boolean folds,
            boolean changelog,
            long ttl)
            implements Serializable {
        /** Whether a first row is known downstream as such, so that another one is an update of it. */
        boolean replacesFirst() {
            return keeping.forgetsOthers() && range.isFirst();
        }
    }

    public TopN(StructType input, Spec spec) {
        super(input, spec.outputNumber ? spec.row.add("rank", DataTypes.LongType, false) : spec.row, spec.changelog);
        this.spec = spec;
        this.row = spec.row;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        StructType key = spec.keeping().key(row);
        StructType value = new StructType()
                .add("row", row)
                .add("arrivals", DataTypes.createArrayType(DataTypes.LongType, false), false);
        state = mapState("rankState", key, value, spec.ttl());
        keyOf = spec.keeping().projection(row);
        ordering = spec.order().compile(row);
        entries = new HashMap<>();
        sorted = new TreeSet<>(
                Comparator.comparing(Occurrence::row, ordering).thenComparingLong(Occurrence::arrival));
        stored = new HashSet<>();
        changed = new HashSet<>();
    }

    @Override
    protected void begin(InternalRow partition) {
        entries.clear();
        sorted.clear();
        stored.clear();
        changed.clear();
        arrivals = 0;
        for (Iterator<Tuple2<InternalRow, InternalRow>> all = state.iterator(); all.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> next = all.next();
            InternalRow value = next._2();
            stored.add(next._1());
            entries.put(next._1(), new Entry(value.getStruct(0, row.length())));
            for (long arrival : value.getArray(1).toLongArray()) {
                place(next._1(), arrival, BEFORE);
                arrivals = Math.max(arrivals, arrival + 1);
            }
        }
        before = ranked();
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        if (isBeyond(current)) {
            return;
        }
        InternalRow key = keyOf.apply(current).copy();
        Entry entry = entries.get(key);
        if (!RowKind.retracts(kind)) {
            add(key, entry, current);
        } else if (entry == null || (spec.keeping().updatesInPlace() && kind == RowKind.UPDATE_BEFORE)) {
            return;
        } else {
            remove(key, entry.arrivals.getFirst());
        }
        changed.add(key);
        if (!spec.folds()) {
            emitChange();
        }
    }

    /** Whether a row of an insert-only input comes behind all that are ever wanted. */
    private boolean isBeyond(InternalRow current) {
        return spec.keeping().forgetsOthers()
                && !spec.keeping().updatesInPlace()
                && !sorted.isEmpty()
                && sorted.size() >= spec.range().most()
                && ordering.compare(sorted.last().row, current) <= 0;
    }

    private void add(InternalRow key, Entry entry, InternalRow current) {
        long arrival = arrivals;
        if (entry != null && spec.keeping().updatesInPlace()) {
            long before = entry.arrivals.getFirst();
            arrival = ordering.compare(entry.row, current) == 0 ? before : arrivals;
            remove(key, before);
        }
        entries.computeIfAbsent(key, absent -> new Entry(current));
        place(key, arrival, sequence());
        arrivals = Math.max(arrivals, arrival + 1);
        while (spec.keeping().forgetsOthers() && sorted.size() > spec.range().most()) {
            forget(sorted.last());
        }
    }

    private void place(InternalRow key, long arrival, long number) {
        Entry entry = entries.get(key);
        entry.arrivals.add(arrival);
        sorted.add(new Occurrence(key, entry.row, arrival, number));
    }

    private void remove(InternalRow key, long arrival) {
        Entry entry = entries.get(key);
        sorted.remove(new Occurrence(key, entry.row, arrival, 0));
        entry.leave(arrival);
        if (entry.arrivals.isEmpty()) {
            entries.remove(key);
        }
    }

    private void forget(Occurrence occurrence) {
        remove(occurrence.key, occurrence.arrival);
        changed.add(occurrence.key);
    }

    @Override
    protected void finish() {
        if (spec.folds()) {
            emitChange();
        }
        for (InternalRow key : changed) {
            Entry entry = entries.get(key);
            if (entry == null && stored.contains(key)) {
                state.removeKey(key);
            } else if (entry != null) {
                long[] places = entry.arrivals.stream().mapToLong(Long::longValue).toArray();
                state.updateValue(key, Rows.of(entry.row, UnsafeArrayData.fromPrimitiveArray(places)));
            }
        }
    }

    /** Emits what has changed since the last time. */
    private void emitChange() {
        List<Ranked> after = ranked();
        if (spec.outputNumber() || spec.replacesFirst()) {
            emitByRank(before, after);
        } else {
            emitByRow(before, after);
        }
        before = after;
    }

    /** The rows whose rank is in the range; rows that can never come into it again are forgotten. */
    private List<Ranked> ranked() {
        List<Ranked> ranked = new ArrayList<>();
        List<Occurrence> others = new ArrayList<>();
        long rank = 0;
        for (Occurrence next : sorted) {
            if (rank == spec.range().most()) {
                break;
            }
            rank++;
            if (spec.range().contains(rank, next.row)) {
                ranked.add(new Ranked(rank, next.row, next.number));
            } else if (rank > spec.range().end(next.row)) {
                others.add(next);
            }
        }
        if (spec.keeping().forgetsOthers()) {
            others.forEach(this::forget);
        }
        return ranked;
    }

    /**
     * Rows are known downstream by their place: what stands at a place is replaced, as of when the last row came that
     * stands there or before it.
     */
    private void emitByRank(List<Ranked> before, List<Ranked> after) {
        long last = BEFORE;
        for (int i = 0; i < after.size(); i++) {
            last = Math.max(last, after.get(i).number);
            if (i >= before.size()) {
                emit(RowKind.INSERT, output(after.get(i)), number(last));
            } else if (!before.get(i).isAs(after.get(i))) {
                if (spec.updateBefore()) {
                    emit(RowKind.UPDATE_BEFORE, output(before.get(i)), number(last));
                }
                emit(RowKind.UPDATE_AFTER, output(after.get(i)), number(last));
            }
        }
        for (int i = after.size(); i < before.size(); i++) {
            emit(RowKind.DELETE, output(before.get(i)));
        }
    }

    private InternalRow output(Ranked ranked) {
        return spec.outputNumber() ? new JoinedRow(ranked.row, Rows.of(ranked.rank)) : ranked.row;
    }

    /**
     * Rows are known downstream by their content: those that left are deleted, those that came are inserted, each as
     * of when it came, unless it may have come in when another one left.
     */
    private void emitByRow(List<Ranked> before, List<Ranked> after) {
        Map<InternalRow, Integer> surplus = new HashMap<>();
        before.forEach(ranked -> surplus.merge(ranked.row, 1, Integer::sum));
        List<Ranked> inserted = new ArrayList<>();
        for (Ranked ranked : after) {
            if (surplus.merge(ranked.row, -1, Integer::sum) < 0) {
                surplus.put(ranked.row, 0);
                inserted.add(ranked);
            }
        }
        long first = inserted.stream().mapToLong(ranked -> number(ranked.number)).min().orElse(sequence());
        for (Ranked ranked : before) {
            if (surplus.get(ranked.row) > 0) {
                surplus.merge(ranked.row, -1, Integer::sum);
                emit(RowKind.DELETE, ranked.row, first);
            }
        }
        inserted.forEach(ranked -> emit(RowKind.INSERT, ranked.row, number(ranked.number)));
    }

    /** The number of a change that a row of this number has brought about. */
    private long number(long row) {
        return readsChangelog() || row == BEFORE ? sequence() : row;
    }
}

package flinkplan.runtime.rank;

import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
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
 * <p>The state maps each row (or its primary key) to the row, how often it is there and its place among rows that
 * are equal in the order. Input rows are the partition's columns, then the row as one struct.
 */
public final class TopN extends Kernel {
    private final StructType row;
    private final int rowOrdinal;
    private final Order order;
    private final Range range;
    private final Keeping keeping;
    private final boolean outputNumber;
    private final boolean updateBefore;
    private final boolean folds;
    private final long ttl;

    private transient MapState<InternalRow, InternalRow> state;
    private transient UnsafeProjection keyOf;
    private transient BaseOrdering ordering;
    private transient Map<InternalRow, Entry> entries;
    private transient Set<InternalRow> changed;
    private transient List<Ranked> before;
    private transient long arrivals;

    /** A row of the partition. */
    private record Entry(InternalRow row, int count, long arrival) {}

    /** A row with its rank. */
    private record Ranked(long rank, InternalRow row) {}

    /**
     * @param row the schema of the ranked rows
     * @param outputNumber whether the rank is emitted as one more column
     * @param updateBefore whether the row that an update replaces is emitted
     * @param folds whether the changes of a micro-batch come to one
     * @param changelog whether the output has row kinds
     */
    public TopN(
            StructType input,
            StructType row,
            Order order,
            Range range,
            Keeping keeping,
            boolean outputNumber,
            boolean updateBefore,
            boolean folds,
            boolean changelog,
            long ttl) {
        super(input, outputNumber ? row.add("rank", DataTypes.LongType, false) : row, changelog);
        this.row = row;
        this.rowOrdinal = input.fieldIndex("row");
        this.order = order;
        this.range = range;
        this.keeping = keeping;
        this.outputNumber = outputNumber;
        this.updateBefore = updateBefore;
        this.folds = folds;
        this.ttl = ttl;
    }

    @Override
    protected void open() {
        StructType key = keeping.key(row);
        StructType value = new StructType()
                .add("row", row)
                .add("count", DataTypes.IntegerType, false)
                .add("arrival", DataTypes.LongType, false);
        state = mapState("rankState", key, value, ttl);
        keyOf = keeping.projection(row);
        ordering = order.compile(row);
        entries = new LinkedHashMap<>();
        changed = new HashSet<>();
    }

    @Override
    protected void begin(InternalRow partition) {
        entries.clear();
        changed.clear();
        arrivals = 0;
        for (Iterator<Tuple2<InternalRow, InternalRow>> stored = state.iterator(); stored.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> next = stored.next();
            InternalRow value = next._2();
            Entry entry = new Entry(value.getStruct(0, row.length()), value.getInt(1), value.getLong(2));
            entries.put(next._1(), entry);
            arrivals = Math.max(arrivals, entry.arrival + 1);
        }
        before = ranked();
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        InternalRow key = keyOf.apply(current).copy();
        Entry entry = entries.get(key);
        if (!RowKind.retracts(kind)) {
            entries.put(key, added(entry, current));
        } else if (entry == null || (keeping.updatesInPlace() && kind == RowKind.UPDATE_BEFORE)) {
            return;
        } else if (entry.count > 1) {
            entries.put(key, new Entry(entry.row, entry.count - 1, entry.arrival));
        } else {
            entries.remove(key);
        }
        changed.add(key);
        if (!folds) {
            emitChange();
        }
    }

    private Entry added(Entry entry, InternalRow current) {
        if (entry == null) {
            return new Entry(current, 1, arrivals++);
        }
        if (!keeping.updatesInPlace()) {
            return new Entry(entry.row, entry.count + 1, entry.arrival);
        }
        boolean stays = ordering.compare(entry.row, current) == 0;
        return new Entry(current, 1, stays ? entry.arrival : arrivals++);
    }

    @Override
    protected void finish() {
        if (folds) {
            emitChange();
        }
        for (InternalRow key : changed) {
            Entry entry = entries.get(key);
            if (entry == null) {
                state.removeKey(key);
            } else {
                state.updateValue(key, Rows.of(entry.row, entry.count, entry.arrival));
            }
        }
    }

    /** Emits what has changed since the last time. */
    private void emitChange() {
        List<Ranked> after = ranked();
        if (outputNumber) {
            emitByRank(before, after);
        } else {
            emitByRow(before, after);
        }
        before = after;
    }

    /** The rows whose rank is in the range; rows that can never come into it again are forgotten. */
    private List<Ranked> ranked() {
        List<Map.Entry<InternalRow, Entry>> sorted = new ArrayList<>(entries.entrySet());
        sorted.sort(Comparator.<Map.Entry<InternalRow, Entry>, InternalRow>comparing(e -> e.getValue().row, ordering)
                .thenComparingLong(e -> e.getValue().arrival));
        List<Ranked> ranked = new ArrayList<>();
        long rank = 0;
        for (Map.Entry<InternalRow, Entry> next : sorted) {
            Entry entry = next.getValue();
            boolean within = false;
            for (int i = 0; i < entry.count; i++) {
                rank++;
                within |= rank <= range.end(entry.row);
                if (range.contains(rank, entry.row)) {
                    ranked.add(new Ranked(rank, entry.row));
                }
            }
            if (!within && keeping.forgetsOthers()) {
                entries.remove(next.getKey());
                changed.add(next.getKey());
            }
        }
        return ranked;
    }

    /** Rows are known downstream by their place: what stands at a place is replaced. */
    private void emitByRank(List<Ranked> before, List<Ranked> after) {
        for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
            if (i >= after.size()) {
                emit(RowKind.DELETE, numbered(before.get(i)));
            } else if (i >= before.size()) {
                emit(RowKind.INSERT, numbered(after.get(i)));
            } else if (!before.get(i).equals(after.get(i))) {
                if (updateBefore) {
                    emit(RowKind.UPDATE_BEFORE, numbered(before.get(i)));
                }
                emit(RowKind.UPDATE_AFTER, numbered(after.get(i)));
            }
        }
    }

    private static InternalRow numbered(Ranked ranked) {
        return new JoinedRow(ranked.row, Rows.of(ranked.rank));
    }

    /** Rows are known downstream by their content: those that left are deleted, those that came are inserted. */
    private void emitByRow(List<Ranked> before, List<Ranked> after) {
        Map<InternalRow, Integer> surplus = new HashMap<>();
        before.forEach(ranked -> surplus.merge(ranked.row, 1, Integer::sum));
        List<InternalRow> inserted = new ArrayList<>();
        for (Ranked ranked : after) {
            if (surplus.merge(ranked.row, -1, Integer::sum) < 0) {
                surplus.put(ranked.row, 0);
                inserted.add(ranked.row);
            }
        }
        for (Ranked ranked : before) {
            if (surplus.get(ranked.row) > 0) {
                surplus.merge(ranked.row, -1, Integer::sum);
                emit(RowKind.DELETE, ranked.row);
            }
        }
        inserted.forEach(row -> emit(RowKind.INSERT, row));
    }
}

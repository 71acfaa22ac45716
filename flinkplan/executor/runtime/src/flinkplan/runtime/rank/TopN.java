package flinkplan.runtime.rank;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.row.SortFields;
import flinkplan.runtime.state.CachedObjects;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Top-N of each partition: emits how the ranked rows of a partition differ after a micro-batch, or after each row,
 * from before.
 *
 * <p>Input rows are the partition's columns, then the row as one struct.
 */
public final class TopN extends ChangelogKernel {
    private final Spec spec;
    private final StructType row;
    private final int rowOrdinal;

    private transient RankState state;
    private transient CachedObjects<Partition> partitions;
    private transient Partition partition;
    private transient PartitionRows rows;
    private transient List<Ranked> before;

    /** A row with its rank, and the number it has come with. */
    private record Ranked(long rank, InternalRow row, long number) {
        boolean isAs(Ranked other) {
            return rank == other.rank && row.equals(other.row);
        }
    }

    /** A partition that stays in memory, with the rows that were ranked when the last one had come. */
    private static final class Partition {
        private final PartitionRows rows;
        private List<Ranked> ranked;

        Partition(PartitionRows rows) {
            this.rows = rows;
        }
    }

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the ranked rows
     * @param keepsFirst whether the first rows of a partition are kept apart from others
     * @param outputNumber whether the rank is emitted as one more column
     * @param updateBefore whether the row that an update replaces is emitted
     * @param folds whether the changes of a micro-batch come to one
     * @param changelog whether the output has row kinds
     */
    public record Spec(
            StructType row,
            SortFields order,
            Range range,
            Keeping keeping,
            boolean keepsFirst,
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
        state = RankState.open(this, row, spec.keeping(), spec.order(), spec.ttl());
        // where rows can expire, they are looked for anew
        partitions = spec.keepsFirst() ? cached(this::read, read -> read.rows.flush()) : null;
        rows = spec.keepsFirst() ? firstRows() : new MappedRows(state);
    }

    private FirstRows firstRows() {
        return new FirstRows(state, (int) spec.range().most());
    }

    private Partition read() {
        Partition read = new Partition(firstRows());
        rows = read.rows;
        rows.begin();
        read.ranked = ranked();
        return read;
    }

    @Override
    protected void begin(InternalRow key) {
        if (partitions == null) {
            rows.begin();
            before = ranked();
            return;
        }
        partition = partitions.get();
        rows = partition.rows;
        before = partition.ranked;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
        if (isBeyond(current)) {
            return;
        }
        InternalRow key = state.key(current);
        if (!RowKind.retracts(kind)) {
            add(key, current);
        } else if (!spec.keeping().updatesInPlace() || kind != RowKind.UPDATE_BEFORE) {
            rows.remove(key);
        }
        if (!spec.folds()) {
            emitChange();
        }
    }

    /** Whether a row of an insert-only input comes behind all that are ever wanted. */
    private boolean isBeyond(InternalRow current) {
        return spec.keeping().forgetsOthers()
                && !spec.keeping().updatesInPlace()
                && rows.sorted().size() >= spec.range().most()
                && rows.isBehind(current);
    }

    private void add(InternalRow key, InternalRow current) {
        if (partitions != null) {
            partitions.keepsRow(((UnsafeRow) current).getSizeInBytes());
        }
        PartitionRows.Entry replaced = spec.keeping().updatesInPlace() ? rows.find(key) : null;
        if (replaced == null) {
            rows.add(key, current, sequence());
        } else {
            long arrival = rows.areEqual(replaced.row(), current) ? replaced.first() : rows.arrivals();
            rows.remove(key);
            rows.add(key, current, arrival, sequence());
        }
        while (spec.keeping().forgetsOthers() && rows.sorted().size() > spec.range().most()) {
            rows.forget(rows.sorted().last());
        }
    }

    @Override
    protected void finish() {
        if (spec.folds()) {
            emitChange();
        }
        if (partitions == null) {
            rows.flush();
        } else {
            partition.ranked = before;
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
        List<PartitionRows.Occurrence> others = new ArrayList<>();
        long rank = 0;
        for (PartitionRows.Occurrence next : rows.first(spec.range().most())) {
            if (rank == spec.range().most()) {
                break;
            }
            rank++;
            if (spec.range().contains(rank, next.row())) {
                ranked.add(new Ranked(rank, next.row(), next.number()));
            } else if (rank > spec.range().end(next.row())) {
                others.add(next);
            }
        }
        if (spec.keeping().forgetsOthers()) {
            others.forEach(rows::forget);
        }
        return ranked;
    }

    /**
     * Rows are known downstream by their place: what stands at a place is replaced, as of when the last row came that
     * stands there or before it.
     *
     * <p>Others may know them by keys of their own, of which another place holds another row now. So where changes come
     * to one, all rows that have left their places are taken back first; each change of its own is made place by place,
     * as in Flink.
     */
    private void emitByRank(List<Ranked> before, List<Ranked> after) {
        if (spec.folds()) {
            emitByRank(before, after, true, false);
            emitByRank(before, after, false, true);
        } else {
            emitByRank(before, after, true, true);
        }
    }

    private void emitByRank(List<Ranked> before, List<Ranked> after, boolean retracts, boolean inserts) {
        long last = PartitionRows.BEFORE;
        for (int i = 0; i < after.size(); i++) {
            last = Math.max(last, after.get(i).number);
            boolean replaces = i < before.size();
            if (replaces && before.get(i).isAs(after.get(i))) {
                continue;
            }
            if (retracts && replaces && spec.updateBefore()) {
                emit(RowKind.UPDATE_BEFORE, output(before.get(i)), number(last));
            }
            if (inserts) {
                byte kind = replaces ? RowKind.UPDATE_AFTER : RowKind.INSERT;
                emit(kind, output(after.get(i)), number(last));
            }
        }
        for (int i = after.size(); retracts && i < before.size(); i++) {
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
        boolean isLast = partitions != null; // rows that stay in memory come one by one
        return isLast || readsChangelog() || row == PartitionRows.BEFORE ? sequence() : row;
    }
}

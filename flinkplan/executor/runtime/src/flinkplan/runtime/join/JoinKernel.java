package flinkplan.runtime.join;

import flinkplan.runtime.catalyst.Condition;
import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/**
 * What all regular joins share: both sides' rows in one input, each side's own state.
 *
 * <p>The input's columns are the join key, {@code __right} (whether the row is the right side's), and one struct
 * a side, of which one is NULL.
 */
public abstract class JoinKernel extends ChangelogKernel {
    private final Spec spec;
    private final int sideOrdinal;

    private transient JoinSide left;
    private transient JoinSide right;
    private transient BasePredicate predicate;
    private transient JoinedRow candidate;
    private transient boolean matchable;

    /**
     * What there is to know of a join beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param kind what is emitted of rows and their matches
     * @param changelog whether the output has row kinds
     * @param ordered whether something behind looks at the order of rows
     * @param left what the left side keeps
     * @param right what the right side keeps
     * @param filterNulls for each column of the key whether NULL equals nothing
     * @param condition what else must hold of two rows, or null
     */
    public record Spec(
            StructType columns,
            JoinKind kind,
            boolean changelog,
            boolean ordered,
            JoinSide.Spec left,
            JoinSide.Spec right,
            boolean[] filterNulls,
            Condition condition)
            implements Serializable {}

    JoinKernel(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec;
        this.sideOrdinal = input.fieldIndex(Hidden.RIGHT);
    }

    @Override
    protected final void open() {
        left = spec.left.open(this);
        right = spec.right.open(this);
        predicate = spec.condition == null ? null : spec.condition.compile();
        candidate = new JoinedRow();
    }

    @Override
    protected final boolean orderMatters() {
        return spec.changelog || spec.ordered || spec.left.replaces() || spec.right.replaces();
    }

    @Override
    protected final int inputs() {
        return 2;
    }

    @Override
    protected final int input(InternalRow row) {
        return row.getBoolean(sideOrdinal) ? 1 : 0;
    }

    @Override
    protected final void begin(InternalRow key) {
        left.begin();
        right.begin();
        matchable = true;
        for (int i = 0; i < spec.filterNulls.length; i++) {
            matchable &= !(spec.filterNulls[i] && key.isNullAt(i));
        }
    }

    @Override
    protected final void process(InternalRow row, byte kind) {
        if (row.getBoolean(sideOrdinal)) {
            change(false, row.getStruct(sideOrdinal + 2, spec.right.row().length()), kind);
        } else {
            change(true, row.getStruct(sideOrdinal + 1, spec.left.row().length()), kind);
        }
    }

    private void change(boolean fromLeft, InternalRow row, byte kind) {
        if (!matchable) {
            unmatched(fromLeft, row, kind);
            return;
        }
        JoinSide own = fromLeft ? left : right;
        if (RowKind.retracts(kind)) {
            retract(fromLeft, row, kind);
            own.remove(row);
            return;
        }
        // an update may come without the row before; an insert whose key is there already retracts nothing, as in Flink
        JoinSide.Entry replaced = kind == RowKind.UPDATE_AFTER ? own.replacedBy(row) : null;
        own.add(row, replaced == null ? accumulate(fromLeft, row, kind) : replace(fromLeft, replaced.row, row));
    }

    /** What becomes of the matches of a row that another one replaces; {@code all} are those of the new row. */
    record Matches(
            Collection<JoinSide.Entry> all,
            Collection<JoinSide.Entry> lost,
            Collection<JoinSide.Entry> kept,
            Collection<JoinSide.Entry> gained) {}

    private int replace(boolean fromLeft, InternalRow before, InternalRow after) {
        Collection<JoinSide.Entry> all = matches(fromLeft, after);
        if (predicate == null) {
            replace(fromLeft, before, after, new Matches(all, List.of(), all, List.of()));
            return size(all);
        }
        Set<JoinSide.Entry> lost = Collections.newSetFromMap(new IdentityHashMap<>());
        lost.addAll(matches(fromLeft, before));
        List<JoinSide.Entry> kept = new ArrayList<>();
        List<JoinSide.Entry> gained = new ArrayList<>();
        for (JoinSide.Entry match : all) {
            (lost.remove(match) ? kept : gained).add(match);
        }
        replace(fromLeft, before, after, new Matches(all, lost, kept, gained));
        return size(all);
    }

    @Override
    protected final void finish() {
        left.flush();
        right.flush();
    }

    /** The other side's rows that match. */
    final Collection<JoinSide.Entry> matches(boolean fromLeft, InternalRow row) {
        Collection<JoinSide.Entry> others = (fromLeft ? right : left).all();
        if (predicate == null) {
            return others;
        }
        List<JoinSide.Entry> matches = new ArrayList<>();
        for (JoinSide.Entry other : others) {
            if (predicate.eval(fromLeft ? candidate.apply(row, other.row) : candidate.apply(other.row, row))) {
                matches.add(other);
            }
        }
        return matches;
    }

    /** The number of rows in a collection of matches. */
    static int size(Collection<JoinSide.Entry> entries) {
        int size = 0;
        for (JoinSide.Entry entry : entries) {
            size += entry.count;
        }
        return size;
    }

    /** Emits what a new row brings about; the number of rows it matches. */
    abstract int accumulate(boolean fromLeft, InternalRow row, byte kind);

    /**
     * Emits what an update brings about that comes without the row before. Then nobody behind wants rows before, either:
     * what an update leaves is an update, what it does not leave is a deletion.
     */
    abstract void replace(boolean fromLeft, InternalRow before, InternalRow after, Matches matches);

    /** Emits what a row's end brings about. */
    abstract void retract(boolean fromLeft, InternalRow row, byte kind);

    /** Emits what becomes of a row whose key is NULL, which equals nothing and need not be kept. */
    abstract void unmatched(boolean fromLeft, InternalRow row, byte kind);
}

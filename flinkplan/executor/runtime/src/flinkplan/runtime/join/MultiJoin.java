package flinkplan.runtime.join;

import flinkplan.runtime.Condition;
import flinkplan.runtime.Hidden;
import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/**
 * A join of several inputs by one key, without intermediate results in state.
 *
 * <p>Emits how the join of a key's rows differs after a micro-batch, or after each row, from before. Input rows are the
 * key's columns, {@code __input} (which of the inputs the row is of), and one struct an input, of which all but one are
 * NULL.
 */
public final class MultiJoin extends Kernel {
    private final StructType columns;
    private final JoinSide.Spec[] specs;
    private final boolean[] preserves;
    private final Condition[] conditions;
    private final boolean folds;
    private final int inputOrdinal;

    private transient JoinSide[] sides;
    private transient BasePredicate[] predicates;
    private transient UnsafeProjection binary;
    private transient Map<InternalRow, Integer> difference;
    private transient boolean started;

    /**
     * @param preserves for each input whether the rows before it stay where it has none (LEFT)
     * @param conditions for each input its condition over the columns of all inputs up to it, or null
     * @param folds whether the changes of a micro-batch come to one
     */
    public MultiJoin(
            StructType input,
            StructType columns,
            boolean changelog,
            JoinSide.Spec[] specs,
            boolean[] preserves,
            Condition[] conditions,
            boolean folds) {
        super(input, columns, changelog);
        this.columns = columns;
        this.specs = specs;
        this.preserves = preserves;
        this.conditions = conditions;
        this.folds = folds;
        this.inputOrdinal = input.fieldIndex(Hidden.INPUT);
    }

    @Override
    protected void open() {
        sides = new JoinSide[specs.length];
        predicates = new BasePredicate[specs.length];
        for (int i = 0; i < specs.length; i++) {
            sides[i] = specs[i].open(this);
            predicates[i] = conditions[i] == null ? null : conditions[i].compile();
        }
        binary = UnsafeProjection.create(columns);
        difference = new LinkedHashMap<>();
    }

    @Override
    protected int inputs() {
        return specs.length;
    }

    @Override
    protected int input(InternalRow row) {
        return row.getInt(inputOrdinal);
    }

    @Override
    protected void begin(InternalRow key) {
        for (JoinSide side : sides) {
            side.begin();
        }
        difference.clear();
        started = false;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        if (!started) {
            started = true;
            join(0, null, -1);
        }
        int index = input.getInt(inputOrdinal);
        InternalRow row = input.getStruct(inputOrdinal + 1 + index, specs[index].row().length());
        if (RowKind.retracts(kind)) {
            sides[index].remove(row);
        } else {
            sides[index].add(row, 0);
        }
        if (!folds) {
            emitDifference();
        }
    }

    @Override
    protected void finish() {
        if (started) {
            emitDifference();
        }
        for (JoinSide side : sides) {
            side.flush();
        }
    }

    /** Emits how the join differs from when the counting started. */
    private void emitDifference() {
        started = false;
        join(0, null, 1);
        difference.forEach((row, count) -> {
            for (int i = count; i < 0; i++) {
                emit(RowKind.DELETE, row);
            }
        });
        difference.forEach((row, count) -> {
            for (int i = 0; i < count; i++) {
                emit(RowKind.INSERT, row);
            }
        });
        difference.clear();
    }

    /** Counts the results that go on from a row of the inputs before {@code index}. */
    private void join(int index, InternalRow before, int by) {
        if (index == sides.length) {
            difference.merge(binary.apply(before).copy(), by, (a, b) -> a + b == 0 ? null : a + b);
            return;
        }
        boolean matched = false;
        for (JoinSide.Entry entry : sides[index].all()) {
            InternalRow row = before == null ? entry.row : new JoinedRow(before, entry.row);
            if (predicates[index] == null || predicates[index].eval(row)) {
                matched = true;
                for (int i = 0; i < entry.count; i++) {
                    join(index + 1, row, by);
                }
            }
        }
        if (!matched && preserves[index]) {
            join(index + 1, new JoinedRow(before, Rows.nulls(specs[index].row().length())), by);
        }
    }
}

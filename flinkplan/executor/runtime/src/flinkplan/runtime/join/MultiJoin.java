package flinkplan.runtime.join;

import flinkplan.runtime.catalyst.Condition;
import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
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
public final class MultiJoin extends ChangelogKernel {
    private final Spec spec;
    private final int inputOrdinal;

    private transient JoinSide[] sides;
    private transient BasePredicate[] predicates;
    private transient UnsafeProjection binary;
    private transient Map<InternalRow, Integer> difference;
    private transient boolean started;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param changelog whether the output has row kinds
     * @param sides what each input keeps
     * @param preserves for each input whether the rows before it stay where it has none (LEFT)
     * @param conditions for each input its condition over the columns of all inputs up to it, or null
     * @param folds whether the changes of a micro-batch come to one
     */
    public record Spec(
            StructType columns,
            boolean changelog,
            JoinSide.Spec[] sides,
            boolean[] preserves,
            Condition[] conditions,
            boolean folds)
            implements Serializable {}

    public MultiJoin(StructType input, Spec spec) {
        super(input, spec.columns, spec.changelog);
        this.spec = spec;
        this.inputOrdinal = input.fieldIndex(Hidden.INPUT);
    }

    @Override
    protected void open() {
        sides = new JoinSide[spec.sides().length];
        predicates = new BasePredicate[spec.sides().length];
        for (int i = 0; i < spec.sides().length; i++) {
            sides[i] = spec.sides()[i].open(this);
            predicates[i] = spec.conditions()[i] == null ? null : spec.conditions()[i].compile();
        }
        binary = UnsafeProjection.create(spec.columns());
        difference = new LinkedHashMap<>();
    }

    @Override
    protected int inputs() {
        return spec.sides().length;
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
        InternalRow row = input.getStruct(inputOrdinal + 1 + index, spec.sides()[index].row().length());
        if (RowKind.retracts(kind)) {
            sides[index].remove(row);
        } else {
            sides[index].add(row, 0);
        }
        if (!spec.folds()) {
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
        if (!matched && spec.preserves()[index]) {
            join(index + 1, new JoinedRow(before, Rows.nulls(spec.sides()[index].row().length())), by);
        }
    }
}

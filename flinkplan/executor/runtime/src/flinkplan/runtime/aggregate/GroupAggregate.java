package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * GROUP BY: one row a group, as it is after each micro-batch or after each row.
 *
 * <p>A group whose rows are all taken back is deleted. The state of a group is one row: the number of its rows,
 * then one struct an aggregate call; a struct that is NULL belongs to a call that was added later.
 */
public final class GroupAggregate extends ChangelogKernel {
    private final Spec spec;
    private final boolean grouped;

    private transient ValueState<InternalRow> state;
    private transient UnsafeProjection binary;
    private transient InternalRow key;
    private transient InternalRow previous;
    private transient long rows;
    private transient boolean touched;
    private transient InternalRow latest;
    private transient long changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param group the schema of the group's columns in the output; without any, the key is a constant
     * @param values the schema of the calls' results
     * @param updateBefore whether the row that an update replaces is emitted
     * @param folds whether the changes of a micro-batch come to one
     * @param numbered whether the one change has the number of the row that made the group what it is
     * @param count the column of how many rows an input row stands for, or -1: each for itself
     */
    public record Spec(
            StructType group,
            StructType values,
            Call[] calls,
            boolean updateBefore,
            boolean folds,
            boolean numbered,
            int count,
            long ttl)
            implements Serializable {}

    public GroupAggregate(StructType input, Spec spec) {
        super(input, spec.group.merge(spec.values, true), true);
        this.spec = spec;
        this.grouped = spec.group.length() > 0;
    }

    @Override
    protected void open() {
        StructType stored = new StructType().add("rows", DataTypes.LongType);
        for (Call call : spec.calls()) {
            stored = stored.add(call.name(), call.function().schema());
            call.function().open(this, call.name(), spec.ttl());
        }
        state = valueState("accumulators", stored, spec.ttl());
        binary = UnsafeProjection.create(spec.values());
    }

    @Override
    protected boolean orderMatters() {
        return !spec.folds()
                || spec.numbered()
                || readsChangelog()
                || Arrays.stream(spec.calls()).anyMatch(call -> call.function().orderMatters());
    }

    @Override
    protected void begin(InternalRow key) {
        this.key = key;
        InternalRow stored = state.get();
        rows = stored == null ? 0 : stored.getLong(0);
        touched = false;
        // with a TTL each state expires by itself
        boolean isNew = stored == null && spec.ttl() == 0;
        for (int i = 0; i < spec.calls().length; i++) {
            Accumulator function = spec.calls()[i].function();
            function.begin(isNew);
            if (stored == null || stored.isNullAt(i + 1)) {
                function.reset();
            } else {
                function.load(stored.getStruct(i + 1, function.width()));
            }
        }
        previous = stored == null ? null : current();
        latest = previous;
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        boolean retraction = RowKind.retracts(kind);
        if (retraction && rows == 0) {
            return; // its group has expired
        }
        touched = true;
        rows += retraction ? -1 : spec.count() < 0 ? 1 : row.getLong(spec.count());
        for (Call call : spec.calls()) {
            if (call.accepts(row)) {
                if (retraction) {
                    call.function().retract(row);
                } else {
                    call.function().add(row);
                }
            }
        }
        if (rows == 0) {
            for (Call call : spec.calls()) {
                call.function().clear();
                call.function().reset();
            }
        }
        if (!spec.folds()) {
            emitChange();
        } else if (spec.numbered()) {
            noteChange();
        }
    }

    private void noteChange() {
        InternalRow next = rows == 0 ? null : current();
        if (!Objects.equals(latest, next)) {
            changed = sequence();
        }
        latest = next;
    }

    @Override
    protected void finish() {
        if (!touched) {
            return;
        }
        if (spec.folds()) {
            emitChange();
        }
        if (rows == 0) {
            state.clear();
        } else {
            save();
        }
        for (Call call : spec.calls()) {
            call.function().flush();
        }
    }

    /** Emits what has changed since the last time. */
    private void emitChange() {
        InternalRow next = rows == 0 ? null : current();
        if (previous == null && next != null) {
            put(RowKind.INSERT, next);
        } else if (previous != null && next == null) {
            put(RowKind.DELETE, previous);
        } else if (next != null) {
            emitUpdate(next);
        }
        previous = next;
    }

    private void emitUpdate(InternalRow next) {
        if (spec.ttl() > 0 || !previous.equals(next)) {
            // with a TTL also what did not change, so that the states downstream live on
            if (spec.updateBefore()) {
                put(RowKind.UPDATE_BEFORE, previous);
            }
            put(RowKind.UPDATE_AFTER, next);
        }
    }

    private void put(byte kind, InternalRow values) {
        emit(kind, output(values), spec.numbered() ? changed : sequence());
    }

    private InternalRow output(InternalRow values) {
        return grouped ? new JoinedRow(key, values) : values;
    }

    private InternalRow current() {
        Object[] results = new Object[spec.calls().length];
        for (int i = 0; i < spec.calls().length; i++) {
            results[i] = spec.calls()[i].function().value();
        }
        return binary.apply(Rows.of(results)).copy();
    }

    private void save() {
        Object[] stored = new Object[spec.calls().length + 1];
        stored[0] = rows;
        for (int i = 0; i < spec.calls().length; i++) {
            stored[i + 1] = spec.calls()[i].function().save();
        }
        state.update(Rows.of(stored));
    }
}

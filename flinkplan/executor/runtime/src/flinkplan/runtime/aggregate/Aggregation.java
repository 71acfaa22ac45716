package flinkplan.runtime.aggregate;

import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Calls of aggregate functions over the same rows. */
public final class Aggregation implements Serializable {
    private final Call[] calls;

    public Aggregation(Call[] calls) {
        this.calls = calls;
    }

    /** Declares the calls' states; with null they live in memory, from {@code begin} on. */
    public void open(States states) {
        for (Call call : calls) {
            call.function().open(states, call.name(), 0);
        }
    }

    /** The schema of what {@link #save} returns. */
    public StructType schema() {
        StructType schema = new StructType();
        for (Call call : calls) {
            schema = schema.add(call.name(), call.function().schema());
        }
        return schema;
    }

    /** Whether it makes a difference in which order rows come. */
    public boolean orderMatters() {
        return Arrays.stream(calls).anyMatch(call -> call.function().orderMatters());
    }

    /** Whether a group is all in what {@link #save} returns, without states of its own. */
    public boolean isSelfContained() {
        return Arrays.stream(calls).allMatch(call -> call.function().isSelfContained());
    }

    /** Whether parts of a group can be folded apart, and merged one behind the other. */
    public boolean merges() {
        return Arrays.stream(calls).allMatch(call -> call.function().merges() || call.function().mergesInOrder());
    }

    /** Takes in what was saved of rows that come behind those of the group. */
    public void merge(InternalRow saved) {
        for (int i = 0; i < calls.length; i++) {
            if (!saved.isNullAt(i)) {
                calls[i].function().merge(saved.getStruct(i, calls[i].function().width()));
            }
        }
    }

    /** What a call has accumulated over parts of slices, of a column with an array of these. */
    public Column mergedParts(int call, Column parts) {
        Accumulator function = calls[call].function();
        Sliced sliced = (Sliced) (function instanceof Delegating outer ? outer.function : function);
        return MethodCall.deterministic(
                sliced,
                "merged",
                sliced.mergedSchema(),
                false,
                List.of(parts),
                List.of(sliced.schema().fields()[0].dataType()));
    }

    /** Begins on a group of no rows. */
    public void begin() {
        for (Call call : calls) {
            call.function().begin(false);
            call.function().reset();
        }
    }

    /** Begins on a group with what was saved of it, in the columns of {@code saved} from {@code start} on. */
    public void begin(InternalRow saved, int start) {
        for (int i = 0; i < calls.length; i++) {
            Accumulator function = calls[i].function();
            function.begin(false);
            if (saved.isNullAt(start + i)) {
                function.reset();
            } else {
                function.load(saved.getStruct(start + i, function.width()));
            }
        }
    }

    public void add(InternalRow row) {
        for (Call call : calls) {
            if (call.accepts(row)) {
                call.function().add(row);
            }
        }
    }

    /** Adds a row to the call of a number alone, whatever its filter says. */
    public void add(int call, InternalRow row) {
        calls[call].function().add(row);
    }

    public void retract(InternalRow row) {
        for (Call call : calls) {
            if (call.accepts(row)) {
                call.function().retract(row);
            }
        }
    }

    /** The calls' results. */
    public InternalRow values() {
        Object[] values = new Object[calls.length];
        for (int i = 0; i < calls.length; i++) {
            values[i] = calls[i].function().value();
        }
        return Rows.of(values);
    }

    /** Empties the calls' states. */
    public void clear() {
        for (Call call : calls) {
            call.function().begin(false);
            call.function().clear();
        }
    }

    /** Writes the calls' states; what remains to be kept. */
    public InternalRow save() {
        Object[] saved = new Object[calls.length];
        for (int i = 0; i < calls.length; i++) {
            saved[i] = calls[i].function().save();
            calls[i].function().flush();
        }
        return Rows.of(saved);
    }
}

package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Emits updates for a table that need not be partitioned. */
@FunctionHint(output = @DataTypeHint("ROW<n BIGINT>"))
public class OptionalUpdates extends ProcessTableFunction<Row> implements ChangelogFunction {
    public static class N {
        public long n;
    }

    public void eval(
            @StateHint N n,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.OPTIONAL_PARTITION_BY}) Row r) {
        n.n++;
        if (n.n > 1) {
            collect(Row.ofKind(RowKind.UPDATE_BEFORE, n.n - 1));
        }
        collect(Row.ofKind(n.n > 1 ? RowKind.UPDATE_AFTER : RowKind.INSERT, n.n));
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return ChangelogMode.all();
    }
}

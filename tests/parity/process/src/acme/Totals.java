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

/** Emits updates with their former rows. */
@FunctionHint(output = @DataTypeHint("ROW<total INT>"))
public class Totals extends ProcessTableFunction<Row> implements ChangelogFunction {
    public static class N {
        public Integer total;
    }

    public void eval(@StateHint N n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        Integer v = r.getFieldAs("v");
        if (v == null) {
            return;
        }
        if (n.total != null) {
            collect(Row.ofKind(RowKind.UPDATE_BEFORE, n.total));
            n.total += v;
            collect(Row.ofKind(RowKind.UPDATE_AFTER, n.total));
        } else {
            n.total = v;
            collect(Row.ofKind(RowKind.INSERT, v));
        }
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return ChangelogMode.all();
    }
}

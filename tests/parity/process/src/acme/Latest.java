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

/** Emits updates by key. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, c INT>"))
public class Latest extends ProcessTableFunction<Row> implements ChangelogFunction {
    public static class N {
        public int c;
    }

    public void eval(@StateHint N n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        n.c++;
        Integer v = r.getFieldAs("v");
        if (v != null && v % 9 == 0) {
            collect(Row.ofKind(RowKind.DELETE, null, null));
            n.c = 0;
            return;
        }
        collect(Row.ofKind(n.c == 1 ? RowKind.INSERT : RowKind.UPDATE_AFTER, v, n.c));
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return ChangelogMode.upsert();
    }
}

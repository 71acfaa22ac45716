package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Hands changes by key on as they come. */
@FunctionHint(output = @DataTypeHint("ROW<name STRING, total BIGINT, mode STRING>"))
public class Mirrored extends ProcessTableFunction<Row> implements ChangelogFunction {
    public void eval(
            Context ctx,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row r) {
        String mode = ctx.getChangelogMode().keyOnlyDeletes() ? "keys" : "rows";
        collect(Row.ofKind(r.getKind(), r.getField("name"), r.getField("total"), mode));
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return ChangelogMode.upsert(context.getRequiredChangelogMode().keyOnlyDeletes());
    }
}

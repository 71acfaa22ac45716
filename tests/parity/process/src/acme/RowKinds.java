package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Row semantics that tells kinds of changes. */
public class RowKinds extends ProcessTableFunction<String> {
    public void eval(
            Context ctx,
            @ArgumentHint({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row r) {
        collect(r.getKind().shortString() + " " + r.getField("id") + " " + r.getField("v") + " "
                + ctx.tableSemanticsFor("r").changelogMode().orElse(null));
    }
}

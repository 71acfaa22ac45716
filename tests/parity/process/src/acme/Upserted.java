package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** The same of updates by key. */
public class Upserted extends ProcessTableFunction<String> {
    public void eval(
            Context ctx,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row r) {
        collect(r.getKind().shortString() + " " + r.getField("v") + " "
                + ctx.tableSemanticsFor("r").changelogMode().orElse(null));
    }
}

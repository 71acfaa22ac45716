package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Updating input and output: what comes with a condition, as its input is. */
@FunctionHint(output = @DataTypeHint("ROW<id INT, v BIGINT>"))
public class Filtered extends ProcessTableFunction<Row> implements ChangelogFunction {
    public void eval(
            Context ctx,
            @ArgumentHint({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row r,
            Integer least) {
        Integer w = r.getFieldAs("w");
        if (w != null && w >= least) {
            collect(Row.ofKind(r.getKind(), r.getField("id"), r.getField("v")));
        }
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return context.getTableChangelogMode(0);
    }
}

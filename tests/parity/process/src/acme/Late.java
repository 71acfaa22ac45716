package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Tells late rows from others. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, late BOOLEAN, mark BIGINT>"))
public class Late extends ProcessTableFunction<Row> {
    public void eval(Context ctx, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        Long mark = time.currentWatermark();
        boolean late = mark != null && time.time() != null && time.time() <= mark;
        collect(Row.of(r.getField("v"), late, null));
    }
}

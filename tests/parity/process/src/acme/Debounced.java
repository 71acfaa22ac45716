package acme;

import java.time.Duration;
import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** The last row of a key, once a minute has passed without another one. */
@FunctionHint(output = @DataTypeHint("ROW<id INT, v INT, n INT>"))
public class Debounced extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint(type = @DataTypeHint("ROW<id INT, v INT, n INT>")) Row last,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        Integer before = last.getFieldAs("n");
        last.setField("id", r.getField("id"));
        last.setField("v", r.getField("v"));
        last.setField("n", before == null ? 1 : before + 1);
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        time.registerOnTime("quiet", time.time().plus(Duration.ofMinutes(1)));
    }

    public void onTimer(OnTimerContext ctx, Row last) {
        collect(Row.of(last.getField("id"), last.getField("v"), last.getField("n")));
        ctx.clearState("last");
    }
}

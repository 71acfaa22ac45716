package acme;

import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Two tables in event time: joins within three minutes, with a timer for what has not met. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, city STRING>"))
public class Windowed extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint(type = @DataTypeHint("ROW<v INT, city STRING>")) Row s,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row l,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        if (l != null) {
            s.setField("v", l.getField("v"));
        } else {
            s.setField("city", r.getField("city"));
        }
        if (s.getField("v") != null && s.getField("city") != null) {
            collect(Row.of(s.getField("v"), s.getField("city")));
            ctx.clearAll();
        } else {
            time.registerOnTime("end", time.time().plusSeconds(180));
        }
    }

    public void onTimer(OnTimerContext ctx, Row s) {
        collect(Row.of(s.getField("v"), s.getField("city")));
        ctx.clearAllState();
    }
}

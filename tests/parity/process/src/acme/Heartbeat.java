package acme;

import java.time.LocalDateTime;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Timers without names, which set others, and are all taken away in the end. */
@FunctionHint(output = @DataTypeHint("ROW<beat INT, at TIMESTAMP(3), mark BIGINT>"))
public class Heartbeat extends ProcessTableFunction<Row> {
    public static class Beats {
        public int n;
    }

    public void eval(
            Context ctx,
            @StateHint Beats beats,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        TimeContext<LocalDateTime> time = ctx.timeContext(LocalDateTime.class);
        time.registerOnTime(time.time().plusSeconds(60));
        time.registerOnTime(time.time().plusSeconds(120));
        if (Integer.valueOf(2).equals(r.getField("v"))) {
            time.clearTimer(time.time().plusSeconds(60));
        }
        if (Integer.valueOf(0).equals(r.getField("v"))) {
            ctx.clearAllTimers();
        }
    }

    public void onTimer(OnTimerContext ctx, Beats beats) {
        TimeContext<LocalDateTime> time = ctx.timeContext(LocalDateTime.class);
        beats.n++;
        collect(Row.of(beats.n, time.time(), (long) (ctx.currentTimer() == null ? 0 : 1)));
        if (beats.n == 2) {
            time.registerOnTime(time.time().plusSeconds(30));
        }
    }
}

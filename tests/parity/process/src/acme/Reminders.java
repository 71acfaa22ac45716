package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Timers without names, more of them, also in the past; and a named one. */
public class Reminders extends ProcessTableFunction<String> {
    public void eval(Context ctx, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        Long at = time.time();
        if (at != null) {
            time.registerOnTime(at + 60_000);
            time.registerOnTime(at + 120_000);
            time.registerOnTime("first", at - 3_600_000);
            time.registerOnTime("last", at + 90_000);
        }
        collect("row " + at);
    }

    public void onTimer(OnTimerContext ctx) {
        collect(ctx.currentTimer() + " " + ctx.timeContext(Long.class).time());
    }
}

package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Named timers that are set, moved, removed one by one and all at once. */
public class Alarms extends ProcessTableFunction<String> {
    public void eval(
            Context ctx,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        collect("row " + r.getField("score") + " at " + time.time());
        if (time.time() == 0) {
            for (int i = 1; i <= 3; i++) {
                time.registerOnTime("alarm" + i, time.time() + i);
            }
            time.registerOnTime("never", Long.MAX_VALUE);
        }
    }

    public void onTimer(OnTimerContext ctx) {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        collect(ctx.currentTimer() + " at " + time.time());
        if (ctx.currentTimer().equals("alarm1")) {
            time.registerOnTime("alarm2", time.time() + 4);
            time.clearTimer("alarm3");
        } else {
            time.clearAllTimers();
        }
    }
}

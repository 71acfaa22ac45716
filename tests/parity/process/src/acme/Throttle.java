package acme;

import java.time.LocalDateTime;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Timers in an onTimer that clears one of two timers, and states that live on. */
public class Throttle extends ProcessTableFunction<String> {
    public static class Kept {
        public Integer first;
        public Integer dropped;
    }

    public void eval(Context ctx, @StateHint Kept kept, @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        TimeContext<LocalDateTime> time = ctx.timeContext(LocalDateTime.class);
        if (kept.first == null) {
            kept.first = r.getFieldAs("id");
            kept.dropped = 0;
            collect("first " + kept.first);
            time.registerOnTime("reset", time.time().plusMinutes(4));
            time.registerOnTime("half", time.time().plusMinutes(2));
        } else {
            kept.dropped++;
            if (kept.dropped == 2) {
                time.clearTimer("half");
            }
        }
    }

    public void onTimer(OnTimerContext ctx, Kept kept) {
        collect(ctx.currentTimer() + " " + kept.first + " " + kept.dropped);
        if (ctx.currentTimer().equals("reset")) {
            ctx.clearAllState();
        }
    }
}

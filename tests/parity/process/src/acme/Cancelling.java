package acme;

import java.time.LocalDateTime;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Clears timers and state. */
public class Cancelling extends ProcessTableFunction<String> {
    public static class N {
        public Integer n;
    }

    public void eval(
            Context ctx, @StateHint N n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        TimeContext<LocalDateTime> time = ctx.timeContext(LocalDateTime.class);
        Integer v = r.getFieldAs("v");
        n.n = (n.n == null ? 0 : n.n) + 1;
        LocalDateTime at = time.time();
        time.registerOnTime("a", at.plusMinutes(2));
        time.registerOnTime(at.plusMinutes(4));
        if (v != null && v % 5 == 0) {
            time.clearTimer("a");
        } else if (v != null && v % 3 == 0) {
            time.clearTimer(at.plusMinutes(4));
        } else if (v != null && v % 7 == 0) {
            time.clearAllTimers();
        }
    }

    public void onTimer(OnTimerContext ctx, N n) {
        collect(ctx.currentTimer() + " " + ctx.timeContext(LocalDateTime.class).time() + " " + n.n);
    }
}

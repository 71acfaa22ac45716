package acme;

import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A timer chain: each timer sets the next, three times. */
public class LateOnce extends ProcessTableFunction<String> {
    public static class N {
        public Integer n = 0;
    }

    public void eval(Context ctx, @StateHint N n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        if (n.n == 0) {
            n.n = 1;
            TimeContext<Instant> time = ctx.timeContext(Instant.class);
            time.registerOnTime(time.time().plusSeconds(30));
        }
    }

    public void onTimer(OnTimerContext ctx, N n) {
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        collect("tick " + n.n + " " + time.time());
        if (n.n++ < 3) {
            time.registerOnTime(time.time().plusSeconds(50));
        }
    }
}

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

/** A named timer that is moved on by each row. */
@FunctionHint(output = @DataTypeHint("ROW<what STRING, n BIGINT>"))
public class Timeout extends ProcessTableFunction<Row> {
    public static class N {
        public long n;
    }

    public void eval(
            Context ctx,
            @StateHint N n,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        n.n++;
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        time.registerOnTime("timeout", time.time().plus(Duration.ofMinutes(3)));
        collect(Row.of("row", n.n));
    }

    public void onTimer(OnTimerContext ctx, N n) {
        collect(Row.of(ctx.currentTimer() + " at " + ctx.timeContext(Instant.class).time(), n.n));
        ctx.clearAll();
    }
}

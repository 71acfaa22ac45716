package acme;

import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Two tables in event time: a timer without a name for each row tells how many rows of each have come by its time. */
@FunctionHint(output = @DataTypeHint("ROW<t STRING, l INT, r INT>"))
public class Paired extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint ListView<Long> left,
            @StateHint ListView<Long> right,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row l,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r)
            throws Exception {
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        (l != null ? left : right).add(time.time().toEpochMilli());
        time.registerOnTime(time.time().plusSeconds(l != null ? 60 : 90));
        if (r != null) {
            time.registerOnTime("last", time.time().plusSeconds(240));
        }
    }

    private static int until(ListView<Long> times, Instant end) throws Exception {
        int n = 0;
        for (Long time : times.get()) {
            n += time <= end.toEpochMilli() ? 1 : 0;
        }
        return n;
    }

    public void onTimer(OnTimerContext ctx, ListView<Long> left, ListView<Long> right) throws Exception {
        Instant at = ctx.timeContext(Instant.class).time();
        String name = ctx.currentTimer();
        collect(Row.of((name == null ? "" : name + " ") + at, until(left, at), until(right, at)));
        if (name != null) {
            right.clear();
        }
    }
}

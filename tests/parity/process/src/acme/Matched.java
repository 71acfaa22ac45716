package acme;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Two tables in event time, whose rows are forgotten a minute after their times, whichever came first. */
@FunctionHint(output = @DataTypeHint("ROW<t STRING, l INT, r INT>"))
public class Matched extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint MapView<Long, Integer> left,
            @StateHint MapView<Long, Integer> right,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row l,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r)
            throws Exception {
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        MapView<Long, Integer> side = l != null ? left : right;
        Integer before = side.get(time.time().toEpochMilli());
        side.put(time.time().toEpochMilli(), before == null ? 1 : before + 1);
        if (l != null) {
            time.registerOnTime("row " + time.time(), time.time().plusSeconds(10));
        }
        time.registerOnTime(time.time().plusSeconds(60));
    }

    private static int within(MapView<Long, Integer> side, long from, long to) throws Exception {
        int n = 0;
        for (Map.Entry<Long, Integer> each : side.entries()) {
            n += each.getKey() > from && each.getKey() <= to ? each.getValue() : 0;
        }
        return n;
    }

    private static void forget(MapView<Long, Integer> side, long to) throws Exception {
        List<Long> old = new ArrayList<>();
        for (Long time : side.keys()) {
            if (time <= to) {
                old.add(time);
            }
        }
        for (Long time : old) {
            side.remove(time);
        }
    }

    public void onTimer(OnTimerContext ctx, MapView<Long, Integer> left, MapView<Long, Integer> right) throws Exception {
        long at = ctx.timeContext(Instant.class).time().toEpochMilli();
        if (ctx.currentTimer() != null) {
            collect(Row.of(ctx.currentTimer(), within(left, at - 20000, at), within(right, at - 20000, at)));
        } else {
            forget(left, at - 60000);
            forget(right, at - 60000);
        }
    }
}

package acme;

import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Three tables by one key: tells the numbers of their rows an hour after the first of a key. */
@FunctionHint(output = @DataTypeHint("ROW<counts STRING, latest TIMESTAMP_LTZ(3)>"))
public class ThreeWays extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint MapView<String, Integer> counts,
            @StateHint MapView<String, Instant> latest,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row a,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row b,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row c)
            throws Exception {
        TimeContext<Instant> time = ctx.timeContext(Instant.class);
        String side = a != null ? "a" : b != null ? "b" : "c";
        Integer n = counts.get(side);
        counts.put(side, n == null ? 1 : n + 1);
        Instant before = latest.get("at");
        if (before == null || before.isBefore(time.time())) {
            latest.put("at", time.time());
        }
        time.registerOnTime("all", Instant.parse("2024-01-01T01:00:00Z"));
    }

    public void onTimer(OnTimerContext ctx, MapView<String, Integer> counts, MapView<String, Instant> latest)
            throws Exception {
        Map<String, Integer> sorted = new TreeMap<>();
        for (Map.Entry<String, Integer> each : counts.entries()) {
            sorted.put(each.getKey(), each.getValue());
        }
        collect(Row.of(sorted.toString(), latest.get("at")));
        ctx.clearAll();
    }
}

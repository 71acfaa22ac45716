package acme;

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

/** Each row has a deadline by its value; a row of value 0 cancels them all but the first. */
@FunctionHint(output = @DataTypeHint("ROW<name STRING, open INT>"))
public class Deadlines extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint MapView<String, Long> open,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r,
            @ArgumentHint(name = "seconds", isOptional = true) Integer seconds)
            throws Exception {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        Integer v = r.getFieldAs("v");
        if (v == null || v == 0) {
            TreeMap<Long, String> byTime = new TreeMap<>();
            for (Map.Entry<String, Long> each : open.entries()) {
                byTime.put(each.getValue(), each.getKey());
            }
            boolean first = true;
            for (String name : byTime.values()) {
                if (!first) {
                    time.clearTimer(name);
                    open.remove(name);
                }
                first = false;
            }
            return;
        }
        long at = time.time() + v * 1000L * (seconds == null ? 10 : seconds);
        open.put("row" + r.getField("id"), at);
        time.registerOnTime("row" + r.getField("id"), at);
    }

    public void onTimer(OnTimerContext ctx, MapView<String, Long> open) throws Exception {
        open.remove(ctx.currentTimer());
        int n = 0;
        for (String each : open.keys()) {
            n++;
        }
        collect(Row.of(ctx.currentTimer(), n));
    }
}

package acme;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** All rows in one set, with or without a key: timers of the whole table. */
@FunctionHint(output = @DataTypeHint("ROW<n BIGINT, ids STRING>"))
public class Overall extends ProcessTableFunction<Row> {
    public void eval(
            Context ctx,
            @StateHint ListView<Integer> ids,
            @ArgumentHint({
                        ArgumentTrait.SET_SEMANTIC_TABLE,
                        ArgumentTrait.OPTIONAL_PARTITION_BY,
                        ArgumentTrait.REQUIRE_ON_TIME
                    })
                    Row r)
            throws Exception {
        ids.add(r.getFieldAs("id"));
        TimeContext<Long> time = ctx.timeContext(Long.class);
        time.registerOnTime("five", time.time() / 300_000 * 300_000 + 300_000);
    }

    public void onTimer(OnTimerContext ctx, ListView<Integer> ids) throws Exception {
        List<Integer> sorted = new ArrayList<>(ids.getList());
        sorted.sort(null);
        collect(Row.of((long) sorted.size(), sorted.toString()));
        ids.clear();
    }
}

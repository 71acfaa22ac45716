package acme;

import java.util.TreeMap;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A map, which is cleared with the second row. */
public class Tally extends ProcessTableFunction<String> {
    public void eval(
            Context ctx,
            @StateHint MapView<String, Integer> counts,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) throws Exception {
        collect(new TreeMap<>(counts.getMap()) + " " + r.getField("score"));
        String name = r.getFieldAs("name");
        int count = counts.contains(name) ? counts.get(name) : 1;
        counts.put("before " + name, count);
        counts.put(name, count + 1);
        if (count == 2) {
            ctx.clearState("counts");
        }
    }
}

package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A list as state, cleared when it has three elements. */
public class ListState extends ProcessTableFunction<String> {
    public void eval(
            Context ctx,
            @StateHint(ttl = "2 d") ListView<String> names,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) throws Exception {
        names.add(String.valueOf(r.<Integer>getFieldAs("v")));
        if (names.getList().size() == 3) {
            collect(String.join(",", names.getList()));
            ctx.clearState("names");
        }
    }
}

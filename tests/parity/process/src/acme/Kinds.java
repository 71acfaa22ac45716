package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** What has happened to a key: counts changes by kind. */
@FunctionHint(output = @DataTypeHint("ROW<kind STRING, n INT, v BIGINT>"))
public class Kinds extends ProcessTableFunction<Row> {
    public void eval(
            @StateHint MapView<String, Integer> counts,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE})
                    Row r)
            throws Exception {
        String kind = r.getKind().shortString();
        Integer n = counts.get(kind);
        counts.put(kind, n == null ? 1 : n + 1);
        collect(Row.of(kind, n == null ? 1 : n + 1, r.getField("v")));
    }
}

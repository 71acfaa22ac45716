package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A map as state, and a value beside it; clears all at 0. */
@FunctionHint(output = @DataTypeHint("ROW<word STRING, c INT, size INT>"))
public class MapState extends ProcessTableFunction<Row> {
    public static class Count {
        public Integer rows;
    }

    public void eval(
            Context ctx,
            @StateHint(ttl = "1 d") MapView<String, Integer> words,
            @StateHint(name = "counted") Count count,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) throws Exception {
        count.rows = (count.rows == null ? 0 : count.rows) + 1;
        Integer v = r.getFieldAs("v");
        if (v != null && v == 0) {
            ctx.clearAllState();
            collect(Row.of("cleared", count.rows, null));
            return;
        }
        String word = v == null ? "null" : v % 2 == 0 ? "even" : "odd";
        Integer c = words.get(word);
        words.put(word, c == null ? 1 : c + 1);
        int size = 0;
        for (String ignored : words.keys()) {
            size++;
        }
        if (words.contains("odd") && words.contains("even") && count.rows % 4 == 0) {
            words.remove("odd");
        }
        collect(Row.of(word, words.get(word), size));
    }
}

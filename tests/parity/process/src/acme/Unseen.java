package acme;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Values that a key has not had, by a map whose entries live for a day; beside a list of all. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, again BOOLEAN, all ARRAY<INT>>"))
public class Unseen extends ProcessTableFunction<Row> {
    public void eval(
            @StateHint(ttl = "1 d") MapView<Integer, Boolean> seen,
            @StateHint ListView<Integer> all,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r)
            throws Exception {
        Integer v = r.getFieldAs("v");
        if (v == null) {
            all.clear();
            return;
        }
        boolean again = seen.contains(v);
        seen.put(v, again);
        all.add(v);
        if (again && all.getList().size() > 4) {
            List<Integer> kept = new ArrayList<>(all.getList());
            all.setList(kept.subList(2, kept.size()));
        }
        collect(Row.of(v, again, all.getList().toArray(new Integer[0])));
    }
}

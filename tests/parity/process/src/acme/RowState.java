package acme;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A state that is a row, with a TTL. */
public class RowState extends ProcessTableFunction<String> {
    public void eval(
            @StateHint(ttl = "1 h", type = @DataTypeHint("ROW<total BIGINT, seen ARRAY<INT>>")) Row s,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        Integer v = r.getFieldAs("v");
        Long total = s.getFieldAs("total");
        long now = (total == null ? 0 : total) + (v == null ? 0 : v);
        Integer[] seen = s.getFieldAs("seen");
        List<Integer> all = new ArrayList<>(seen == null ? List.of() : Arrays.asList(seen));
        all.add(v);
        s.setField("total", now);
        s.setField("seen", all.toArray(new Integer[0]));
        collect(now + " " + all);
    }
}

package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Set semantics with the columns passed through. */
@FunctionHint(output = @DataTypeHint("ROW<total INT>"))
public class PassSet extends ProcessTableFunction<Row> {
    public static class N {
        public int total;
    }

    public void eval(
            @StateHint N n,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH}) Row r) {
        Integer v = r.getFieldAs("v");
        n.total += v == null ? 0 : v;
        collect(Row.of(n.total));
    }
}

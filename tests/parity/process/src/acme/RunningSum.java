package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Each row of a table, with the sum so far. */
@FunctionHint(output = @DataTypeHint("ROW<total BIGINT, below BOOLEAN>"))
public class RunningSum extends ProcessTableFunction<Row> {
    public static class Total {
        public Long sum = 0L;
    }

    public void eval(
            @StateHint Total total,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH}) Row r,
            @ArgumentHint(name = "bound") long bound) {
        Integer v = r.getFieldAs("v");
        total.sum += v == null ? 0 : v;
        collect(Row.of(total.sum, total.sum < bound));
        if (total.sum >= bound) {
            total.sum = 0L;
        }
    }
}

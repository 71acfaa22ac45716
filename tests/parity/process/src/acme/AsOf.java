package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Rows with the last city before them: both tables come in the order of time. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, city STRING>"))
public class AsOf extends ProcessTableFunction<Row> {
    public static class Latest {
        public String city;
    }

    public void eval(
            Context ctx,
            @StateHint(ttl = "0 ms") Latest latest,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row l,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        if (r != null) {
            latest.city = r.getFieldAs("city");
        } else {
            collect(Row.of(l.getField("v"), latest.city));
        }
    }
}

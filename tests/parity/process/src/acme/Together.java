package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Two tables by one key. */
@FunctionHint(output = @DataTypeHint("ROW<v INT, city STRING>"))
public class Together extends ProcessTableFunction<Row> {
    public void eval(
            @StateHint(type = @DataTypeHint("ROW<v INT, city STRING>")) Row s,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row l,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        if (l != null) {
            s.setField("v", l.getField("v"));
        }
        if (r != null) {
            s.setField("city", r.getField("city"));
        }
        if (s.getField("v") != null && s.getField("city") != null) {
            collect(Row.of(s.getField("v"), s.getField("city")));
        }
    }
}

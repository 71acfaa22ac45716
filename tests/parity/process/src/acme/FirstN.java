package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** The first rows of each key, as many as an argument says, with another argument's text. */
@FunctionHint(output = @DataTypeHint("ROW<place INT, t STRING>"))
public class FirstN extends ProcessTableFunction<Row> {
    public static class Seen {
        public int n;
    }

    public void eval(
            @StateHint(ttl = "90 min") Seen seen,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r,
            @ArgumentHint(name = "most") Integer most,
            @ArgumentHint(name = "mark", isOptional = true) String mark) {
        if (seen.n < most) {
            seen.n++;
            collect(Row.of(seen.n, (mark == null ? "" : mark) + r.getField(0) + "/" + r.getArity()));
        }
    }
}

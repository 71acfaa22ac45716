package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Two states: one counts the rows, the other those before. */
public class Counters extends ProcessTableFunction<String> {
    public static class Number {
        public Integer n;
    }

    public void eval(
            @StateHint Number rows,
            @StateHint Number before,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        collect(rows.n + " " + before.n + " " + r.getField("score"));
        before.n = rows.n == null ? 0 : rows.n;
        rows.n = rows.n == null ? 1 : rows.n + 1;
    }
}

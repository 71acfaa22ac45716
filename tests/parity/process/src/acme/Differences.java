package acme;

import java.time.Duration;
import java.time.Instant;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** How each row in the order of time differs from the one before, and how long ago that was. */
@FunctionHint(output = @DataTypeHint("ROW<d INT, ms BIGINT>"))
public class Differences extends ProcessTableFunction<Row> {
    public static class Before {
        public Integer v;
        public Instant at;
    }

    public void eval(
            Context ctx,
            @StateHint Before before,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r) {
        Instant at = ctx.timeContext(Instant.class).time();
        Integer v = r.getFieldAs("v");
        boolean first = before.at == null;
        collect(Row.of(
                v == null || before.v == null ? null : v - before.v,
                first ? null : Duration.between(before.at, at).toMillis()));
        before.v = v;
        before.at = at;
    }
}

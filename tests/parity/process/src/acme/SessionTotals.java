package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Sessions whose rows are counted by a timer that is set anew, and late rows apart from them. */
@FunctionHint(output = @DataTypeHint("ROW<kind STRING, n BIGINT, total BIGINT>"))
public class SessionTotals extends ProcessTableFunction<Row> {
    public static class Session {
        public long n;
        public Long total;
        public Long end;
    }

    public void eval(
            Context ctx,
            @StateHint Session session,
            @StateHint(name = "lateRows") ListView<Long> late,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row r)
            throws Exception {
        TimeContext<Long> time = ctx.timeContext(Long.class);
        Long mark = time.currentWatermark();
        if (mark != null && time.time() <= mark) {
            late.add(time.time());
            collect(Row.of("late", (long) late.getList().size(), mark - time.time()));
            return;
        }
        Integer v = r.getFieldAs("v");
        session.n++;
        session.total = (session.total == null ? 0 : session.total) + (v == null ? 0 : v);
        session.end = Math.max(session.end == null ? 0 : session.end, time.time() + 90_000);
        time.registerOnTime("end", session.end);
    }

    public void onTimer(OnTimerContext ctx, Session session, ListView<Long> late) throws Exception {
        collect(Row.of("session", session.n, session.total));
        ctx.clearState("session");
        if (late.getList().size() > 1) {
            ctx.clearState("lateRows");
        }
    }
}

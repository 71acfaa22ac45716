package acme;
import java.time.*;
import java.util.*;
import java.math.BigDecimal;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.types.*;
import static org.apache.flink.table.annotation.ArgumentTrait.*;
public class Periodic extends ProcessTableFunction<String> {
    public static class N { public int rows; public int fired; }
    public void eval(Context ctx, @StateHint N n, @ArgumentHint({SET_SEMANTIC_TABLE, REQUIRE_ON_TIME}) Row r) {
        n.rows++;
        TimeContext<Instant> t = ctx.timeContext(Instant.class);
        if (n.rows == 1) { t.registerOnTime("tick", t.time().plusSeconds(60)); }
    }
    public void onTimer(OnTimerContext ctx, N n) {
        TimeContext<Instant> t = ctx.timeContext(Instant.class);
        n.fired++;
        collect(ctx.currentTimer() + n.fired + "/" + n.rows + "@" + t.time());
        if (n.fired < 3) { t.registerOnTime("tick", t.time().plusSeconds(60)); } else { ctx.clearAll(); }
    }
}

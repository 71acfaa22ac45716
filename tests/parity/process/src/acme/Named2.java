package acme;
import java.time.*;
import java.util.*;
import java.math.BigDecimal;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.types.*;
import static org.apache.flink.table.annotation.ArgumentTrait.*;
public class Named2 extends ProcessTableFunction<String> {
    public static class S { public String text = ""; }
    public void eval(Context ctx, @StateHint S s, @ArgumentHint(SET_SEMANTIC_TABLE) Row r) {
        TimeContext<LocalDateTime> t = ctx.timeContext(LocalDateTime.class);
        if (t.time() == null) { collect("no time"); return; }
        LocalDateTime end = t.time().withSecond(0).plusMinutes(5);
        t.registerOnTime("a", end); t.registerOnTime("b", end); t.registerOnTime("a", end.plusMinutes(1));
        s.text += r.getField("v") + ";";
    }
    public void onTimer(OnTimerContext ctx, S s) {
        collect(ctx.currentTimer() + ":" + s.text);
        if ("a".equals(ctx.currentTimer())) { ctx.clearAllTimers(); ctx.clearState("s"); }
    }
}

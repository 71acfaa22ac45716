package acme;
import java.time.*;
import java.util.*;
import java.math.BigDecimal;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.types.*;
import static org.apache.flink.table.annotation.ArgumentTrait.*;
@FunctionHint(output = @DataTypeHint("ROW<kind STRING, v INT, n INT>"))
public class LateSplit extends ProcessTableFunction<Row> {
    public static class C { public int late; public int good; }
    public void eval(Context ctx, @StateHint(ttl = "2 h") C c, @ArgumentHint({SET_SEMANTIC_TABLE, REQUIRE_ON_TIME}) Row r) {
        TimeContext<Long> t = ctx.timeContext(Long.class);
        Long mark = t.currentWatermark();
        if (mark != null && t.time() <= mark) { c.late++; collect(Row.of("late", r.getField("v"), c.late)); }
        else { c.good++; collect(Row.of("good", r.getField("v"), c.good)); }
    }
}

package acme;
import java.time.*;
import java.util.*;
import java.math.BigDecimal;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.types.*;
import static org.apache.flink.table.annotation.ArgumentTrait.*;
public class Batches extends ProcessTableFunction<Integer[]> {
    public void eval(Context ctx, @StateHint ListView<Integer> kept, @ArgumentHint({SET_SEMANTIC_TABLE, REQUIRE_ON_TIME}) Row r) throws Exception {
        TimeContext<Long> t = ctx.timeContext(Long.class);
        Integer v = r.getFieldAs("v");
        kept.add(v == null ? -1 : v);
        t.registerOnTime("flush", t.time() / 120000 * 120000 + 120000);
    }
    public void onTimer(OnTimerContext ctx, ListView<Integer> kept) throws Exception {
        List<Integer> all = new ArrayList<>(kept.getList());
        Collections.sort(all);
        collect(all.toArray(new Integer[0]));
        kept.clear();
    }
}

package acme;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A value, a list and a map beside each other, read and written in several ways. */
@FunctionHint(output = @DataTypeHint("ROW<n INT, names ARRAY<STRING>, sizes MAP<STRING, INT>, last ROW<a INT, b STRING>>"))
public class AllStates extends ProcessTableFunction<Row> {
    public static class Point {
        public Integer x;
        public String y;
    }

    public static class Total {
        public int n;
        public Point last;
    }

    public void eval(
            Context ctx,
            @StateHint(ttl = "5 d") Total total,
            @StateHint ListView<Point> points,
            @StateHint MapView<Integer, Point> byValue,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input,
            @ArgumentHint(name = "most", isOptional = true) Integer most) throws Exception {
        Integer v = input.getFieldAs("v");
        Point point = new Point();
        point.x = v;
        point.y = "p" + input.getField("id");
        Point before = total.last;
        total.n++;
        total.last = point;
        points.add(point);
        if (v != null) {
            byValue.put(v, point);
        }
        List<String> names = new ArrayList<>();
        for (Point each : points.get()) {
            names.add(each.y);
        }
        Map<String, Integer> sizes = new HashMap<>();
        for (Map.Entry<Integer, Point> entry : byValue.entries()) {
            sizes.merge(entry.getValue().y, entry.getKey(), Integer::sum);
        }
        collect(Row.of(total.n, names.toArray(new String[0]), sizes,
                before == null ? null : Row.of(before.x, before.y)));
        if (most != null && names.size() >= most) {
            points.setList(new ArrayList<>(List.of(point)));
            byValue.clear();
        }
        if (v != null && v == 11) {
            ctx.clearState("total");
        }
    }
}

package acme;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Gives structured values, with state in fields of several types. */
public class PojoOut extends ProcessTableFunction<PojoOut.Out> {
    public static class Out {
        public String word;
        public LocalDateTime at;
        public List<Integer> all;
    }

    public static class Kept {
        public List<Integer> all = new ArrayList<>();
        public Map<String, Double> sums = new HashMap<>();
        public LocalDateTime at;
        public @DataTypeHint("DECIMAL(10, 2)") java.math.BigDecimal price;
    }

    public void eval(@StateHint Kept kept, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        Integer v = r.getFieldAs("v");
        if (v != null) {
            kept.all.add(v);
            kept.sums.merge("s", v / 2.0, Double::sum);
        }
        Out out = new Out();
        out.word = String.valueOf(kept.sums) + kept.at;
        kept.at = r.getFieldAs("ts");
        out.at = kept.at;
        out.all = kept.all;
        collect(out);
    }
}

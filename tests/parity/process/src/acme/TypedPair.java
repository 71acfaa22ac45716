package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Tables of declared types, as structured classes. */
@FunctionHint(output = @DataTypeHint("ROW<t STRING>"))
public class TypedPair extends ProcessTableFunction<Row> {
    public static class Value {
        public String k;
        public Integer v;
    }

    public static class City {
        public String k;
        public String city;
    }

    public static class Kept {
        public Integer sum = 0;
        public Integer cities = 0;
    }

    public void eval(
            @StateHint Kept kept,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Value l,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) City r) {
        if (l != null) {
            kept.sum += l.v == null ? 0 : l.v;
        } else {
            kept.cities += r.city.length();
        }
        if (l != null && kept.cities == 0) {
            collect(Row.of(l.k + kept.sum));
        }
    }
}

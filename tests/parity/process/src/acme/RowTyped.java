package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Row semantics over a typed row. */
public class RowTyped extends ProcessTableFunction<Integer> {
    public static class In {
        public String name;
        public Integer value;
    }

    public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) In r) {
        collect(r.value == null ? -1 : r.value + r.name.length());
    }
}

package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Row semantics: a row of its own for each row. */
public class RowEcho extends ProcessTableFunction<String> {
    public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row r, String suffix) {
        collect(r.getField("k") + ":" + r.getFieldAs("v") + suffix);
    }
}

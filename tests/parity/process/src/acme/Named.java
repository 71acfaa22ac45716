package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Arguments with names, types and defaults. */
public class Named extends ProcessTableFunction<String> {
    public void eval(
            @ArgumentHint(value = ArgumentTrait.ROW_SEMANTIC_TABLE, name = "input", type = @DataTypeHint("ROW<a STRING, b INT>")) Row r,
            @ArgumentHint(name = "factor") Integer factor,
            @ArgumentHint(name = "ratio", isOptional = true) Double ratio,
            @ArgumentHint(name = "tag", isOptional = true) String tag) {
        collect(r.getField("a") + " " + r.getField("b") + " " + factor + " " + ratio + " " + tag);
    }
}

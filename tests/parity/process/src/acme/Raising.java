package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Raises at a value. */
public class Raising extends ProcessTableFunction<String> {
    public void eval(@ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        if (Integer.valueOf(7).equals(r.getField("v"))) {
            throw new IllegalStateException("seven");
        }
        collect("ok");
    }
}

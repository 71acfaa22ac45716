package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Says which of two tables a row comes from. */
public class Sides extends ProcessTableFunction<String> {
    public void eval(
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row l,
            @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        collect((l == null ? null : l.getField("score")) + " " + (r == null ? null : r.getField("city")));
    }
}

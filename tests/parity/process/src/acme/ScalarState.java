package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A state that is no row, which Flink refuses. */
public class ScalarState extends ProcessTableFunction<String> {
    public void eval(@StateHint Integer n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        collect("no");
    }
}

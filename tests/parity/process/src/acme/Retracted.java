package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Updates with their former rows, by key. */
public class Retracted extends ProcessTableFunction<String> {
    public void eval(
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES,
                ArgumentTrait.REQUIRE_UPDATE_BEFORE}) Row r) {
        collect(r.getKind().shortString() + " " + r.getField("v"));
    }
}

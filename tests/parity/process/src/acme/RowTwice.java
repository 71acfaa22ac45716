package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Row semantics with the columns passed through, no row or two for each. */
@FunctionHint(output = @DataTypeHint("ROW<n INT NOT NULL, t STRING>"))
public class RowTwice extends ProcessTableFunction<Row> {
    public void eval(
            @ArgumentHint({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH}) Row r,
            @ArgumentHint(name = "least", isOptional = true) Integer least) {
        Integer v = r.getFieldAs("v");
        if (v == null || (least != null && v < least)) {
            return;
        }
        collect(Row.of(1, "a" + v));
        collect(Row.of(2, null));
    }
}

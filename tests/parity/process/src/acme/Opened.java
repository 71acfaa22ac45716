package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Uses what open is told, and internal rows. */
@FunctionHint(output = @DataTypeHint("ROW<a STRING, b INT>"))
public class Opened extends ProcessTableFunction<Row> {
    private transient String prefix;

    @Override
    public void open(FunctionContext context) {
        prefix = context.getJobParameter("prefix", "none");
    }

    public void eval(@ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        collect(Row.of(prefix, r.getArity()));
    }
}

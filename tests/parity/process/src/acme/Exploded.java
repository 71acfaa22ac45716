package acme;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A row for each column of a row, without state; opened with a job parameter. */
@FunctionHint(output = @DataTypeHint("ROW<name STRING, text STRING, prefix STRING>"))
public class Exploded extends ProcessTableFunction<Row> {
    private transient String prefix;

    @Override
    public void open(FunctionContext context) {
        prefix = context.getJobParameter("prefix", "none");
    }

    public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row r, Boolean nulls) {
        for (String name : new TreeMap<>(Map.of("id", 1, "k", 2, "v", 3)).keySet()) {
            Object value = r.getField(name);
            if (value != null || nulls) {
                collect(Row.of(name, String.valueOf(value), prefix));
            }
        }
    }
}

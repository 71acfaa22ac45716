package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Takes rows in order. */
public class Sorted extends ProcessTableFunction<String> {
    public static class N {
        public int n;
    }

    public void eval(Context ctx, @StateHint N n, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        n.n++;
        collect(n.n + " " + r.getField("v"));
    }
}

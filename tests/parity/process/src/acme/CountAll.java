package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A partition is optional. */
public class CountAll extends ProcessTableFunction<Long> {
    public static class N {
        public long n;
    }

    public void eval(
            @StateHint N n,
            @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.OPTIONAL_PARTITION_BY}) Row r) {
        collect(++n.n);
    }
}

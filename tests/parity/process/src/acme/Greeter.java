package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** A structured state. */
public class Greeter extends ProcessTableFunction<String> {
    public static class Seen {
        public long count = 0L;
        public String last;
    }

    public void eval(@StateHint Seen seen, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        seen.count++;
        collect("Hello " + r.getField("v") + ", time " + seen.count + " after " + seen.last);
        seen.last = String.valueOf(r.<Integer>getFieldAs("v"));
    }
}

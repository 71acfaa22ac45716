package acme;

import org.apache.flink.table.functions.ProcessTableFunction;

/** No table at all. */
public class Series extends ProcessTableFunction<Integer> {
    public void eval(Integer from, Integer to) {
        for (int i = from; i <= to; i++) {
            collect(i);
        }
    }
}

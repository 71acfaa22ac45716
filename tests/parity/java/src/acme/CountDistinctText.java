package acme;

import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.data.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.table.types.inference.*;
import org.apache.flink.types.*;

public class CountDistinctText extends AggregateFunction<Long, Distincts> {
    @Override public Distincts createAccumulator() { return new Distincts(); }
    @Override public Long getValue(Distincts a) { return a.count; }
    public void accumulate(Distincts a, String s) throws Exception {
        if (s == null) return;
        Integer n = a.seen.get(s);
        if (n == null) { a.count++; n = 0; }
        a.seen.put(s, n + 1);
    }
    public void retract(Distincts a, String s) throws Exception {
        if (s == null) return;
        Integer n = a.seen.get(s);
        if (n != null && n == 1) { a.count--; a.seen.remove(s); } else if (n != null) { a.seen.put(s, n - 1); }
    }
}

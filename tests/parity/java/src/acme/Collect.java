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

public class Collect extends AggregateFunction<String, Collected> {
    @Override public Collected createAccumulator() { return new Collected(); }
    @Override public String getValue(Collected a) {
        List<String> all = new ArrayList<>();
        try { for (String s : a.items.get()) all.add(s); } catch (Exception e) { throw new RuntimeException(e); }
        return String.join(",", all) + "|" + a.last;
    }
    public void accumulate(Collected a, String s) throws Exception { a.items.add(String.valueOf(s)); a.last = s; }
    public void merge(Collected a, Iterable<Collected> others) throws Exception {
        for (Collected o : others) { for (String s : o.items.get()) a.items.add(s); a.last = o.last == null ? a.last : o.last; }
    }
}

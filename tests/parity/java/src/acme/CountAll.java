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

public class CountAll extends AggregateFunction<Long, CountAll.Acc> {
    public static class Acc { public long n; }
    @Override public Acc createAccumulator() { return new Acc(); }
    @Override public Long getValue(Acc a) { return a.n; }
    public void accumulate(Acc a) { a.n++; }
    public void retract(Acc a) { a.n--; }
    public void merge(Acc a, Iterable<Acc> it) { for (Acc o : it) a.n += o.n; }
}

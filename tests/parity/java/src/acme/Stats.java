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

public class Stats extends AggregateFunction<Stats.Result, Stats.Acc> {
    public static class Acc { public double sum; public long n; }
    public static class Result { public Double mean; public Long n; }
    @Override public Acc createAccumulator() { return new Acc(); }
    @Override public Result getValue(Acc a) { Result r = new Result(); r.mean = a.n == 0 ? null : a.sum / a.n; r.n = a.n; return r; }
    public void accumulate(Acc a, Double d) { if (d != null) { a.sum += d; a.n++; } }
    public void retract(Acc a, Double d) { if (d != null) { a.sum -= d; a.n--; } }
    public void merge(Acc a, Iterable<Acc> it) { for (Acc o : it) { a.sum += o.sum; a.n += o.n; } }
}

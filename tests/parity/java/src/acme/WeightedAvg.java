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

public class WeightedAvg extends AggregateFunction<Long, Average> {
    @Override public Average createAccumulator() { return new Average(); }
    @Override public Long getValue(Average a) { return a.count == 0 ? null : a.sum / a.count; }
    public void accumulate(Average a, Long value, Integer weight) { if (value != null && weight != null) { a.sum += value * weight; a.count += weight; } }
    public void retract(Average a, Long value, Integer weight) { if (value != null && weight != null) { a.sum -= value * weight; a.count -= weight; } }
    public void merge(Average a, Iterable<Average> others) { for (Average o : others) { a.sum += o.sum; a.count += o.count; } }
    public void resetAccumulator(Average a) { a.sum = 0; a.count = 0; }
}

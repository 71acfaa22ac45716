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

public class LastRow extends AggregateFunction<Row, Row> {
    @Override public Row createAccumulator() { return Row.of(null, 0L); }
    @Override public Row getValue(Row a) { return a.getField(0) == null ? null : Row.of(a.getField(0), a.getField(1)); }
    @FunctionHint(accumulator = @DataTypeHint("ROW<v STRING, n BIGINT>"), output = @DataTypeHint("ROW<v STRING, n BIGINT>"))
    public void accumulate(Row a, String s) { a.setField(0, s); a.setField(1, (Long) a.getField(1) + 1); }
}

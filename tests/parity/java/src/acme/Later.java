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

public class Later extends ScalarFunction {
    public @DataTypeHint("TIMESTAMP(3)") LocalDateTime eval(@DataTypeHint("TIMESTAMP(3)") LocalDateTime t, Integer minutes) {
        return t == null ? null : t.plusMinutes(minutes);
    }
    public @DataTypeHint("TIMESTAMP_LTZ(3)") Instant eval(@DataTypeHint("TIMESTAMP_LTZ(3)") Instant t, Integer minutes) {
        return t == null ? null : t.plusSeconds(60L * minutes);
    }
    public LocalDate eval(LocalDate d, Integer days) { return d == null ? null : d.plusDays(days); }
    public @DataTypeHint("TIME(0)") LocalTime eval(@DataTypeHint("TIME(0)") LocalTime d, Integer minutes) { return d == null ? null : d.plusMinutes(minutes); }
}

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

public class SqlTimes extends ScalarFunction {
    public @DataTypeHint(value = "TIMESTAMP(3)", bridgedTo = java.sql.Timestamp.class) java.sql.Timestamp eval(@DataTypeHint(value = "TIMESTAMP(3)", bridgedTo = java.sql.Timestamp.class) java.sql.Timestamp t) { return t == null ? null : new java.sql.Timestamp(t.getTime() + 1000); }
    public java.sql.Date eval(java.sql.Date d) { return d == null ? null : java.sql.Date.valueOf(d.toLocalDate().plusDays(1)); }
}

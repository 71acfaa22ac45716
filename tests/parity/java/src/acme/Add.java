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

public class Add extends ScalarFunction {
    public int eval(int a, int b) { return a + b; }
    public Long eval(Long a, Long b) { return a == null || b == null ? null : a + b; }
    public String eval(String a, String b) { return a + "+" + b; }
}

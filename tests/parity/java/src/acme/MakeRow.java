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

public class MakeRow extends ScalarFunction {
    public @DataTypeHint("ROW<a INT, b STRING, c ARRAY<INT>>") Row eval(Integer a, String b) {
        return Row.of(a, b, new Integer[] {a, null});
    }
}

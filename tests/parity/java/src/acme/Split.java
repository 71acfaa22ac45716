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

@FunctionHint(output = @DataTypeHint("ROW<word STRING, length INT>"))
public class Split extends TableFunction<Row> {
    public void eval(String s) {
        if (s != null) for (String w : s.split(" ")) if (!w.isEmpty()) collect(Row.of(w, w.length()));
    }
}

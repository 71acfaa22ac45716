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

public class Greet extends ScalarFunction {
    public String eval(@ArgumentHint(name = "who", type = @DataTypeHint("STRING"), isOptional = true) String who,
                       @ArgumentHint(name = "times", type = @DataTypeHint("INT"), isOptional = true) Integer times) {
        return "hello ".repeat(times == null ? 1 : times) + who;
    }
}

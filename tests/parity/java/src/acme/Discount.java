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

public class Discount extends ScalarFunction {
    public @DataTypeHint("DECIMAL(12, 3)") BigDecimal eval(@DataTypeHint("DECIMAL(10, 2)") BigDecimal price, Integer percent) {
        return price == null || percent == null ? null : price.multiply(BigDecimal.valueOf(100 - percent)).movePointLeft(2);
    }
}

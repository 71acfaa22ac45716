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

public class Norm extends ScalarFunction {
    public Double eval(Point p) { return p == null ? -1.0 : Math.sqrt(p.x * p.x + p.y * p.y); }
}

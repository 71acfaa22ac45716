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

public class Points extends TableFunction<Point> {
    public void eval(Integer n) {
        for (int i = 0; n != null && i < n; i++) { Point p = new Point(); p.x = (double) i; p.y = i * 2.0; collect(p); }
    }
}

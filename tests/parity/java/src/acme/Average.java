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

public class Average {
    public long sum = 0;
    public int count = 0;
}

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

public class Reversed extends ScalarFunction {
    public @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData eval(@DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData s) {
        return s == null ? null : StringData.fromString(new StringBuilder(s.toString()).reverse().toString());
    }
    public byte[] eval(byte[] b) {
        if (b == null) return null;
        byte[] r = new byte[b.length];
        for (int i = 0; i < r.length; i++) r[i] = b[r.length - 1 - i];
        return r;
    }
}

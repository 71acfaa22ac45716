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

public class Lengths extends ScalarFunction {
    public Integer[] eval(String[] words) {
        if (words == null) return null;
        return Arrays.stream(words).map(w -> w == null ? null : w.length()).toArray(Integer[]::new);
    }
    public Map<String, Integer> eval(String text) {
        Map<String, Integer> result = new TreeMap<>();
        if (text != null) for (String w : text.split(" ")) result.merge(w, 1, Integer::sum);
        return result;
    }
}

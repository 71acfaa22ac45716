package flinkplan.bridge;

import flinkplan.runtime.udf.ProcessHost;
import flinkplan.runtime.udf.ScalarCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Calls of a process table function that sees each row by itself: what it emits for a row is an array of rows, which
 * are all inserts.
 *
 * <p>The arguments are the row, its kind, its time (ms, or null), the watermark (ms, or null), and the values of the
 * arguments that are no tables.
 */
final class RowProcess implements ScalarCall, ProcessHost {
    private static final int SCALARS = 4;

    private final Process call;
    private final int input;
    private final List<Object> rows = new ArrayList<>();
    private long watermark;

    RowProcess(Process call, JsonNode json) {
        this.call = call;
        int table = -1;
        for (JsonNode each : json.get("tables")) {
            table = each.isNull() ? table : each.get("input").asInt();
        }
        input = table;
        call.at(this);
    }

    @Override
    public Object callAll(Object... arguments) {
        Object[] scalars = new Object[arguments.length - SCALARS];
        System.arraycopy(arguments, SCALARS, scalars, 0, scalars.length);
        watermark = arguments[3] == null ? Long.MIN_VALUE : (Long) arguments[3];
        rows.clear();
        byte kind = (Byte) arguments[1];
        call.eval(input, (InternalRow) arguments[0], kind, new GenericInternalRow(scalars), (Long) arguments[2]);
        return new GenericArrayData(rows.toArray());
    }

    @Override
    public void emit(byte kind, InternalRow row) {
        rows.add(row);
    }

    @Override
    public long watermark() {
        return watermark;
    }

    @Override
    public void close() {
        call.close();
    }

    private static IllegalStateException none() {
        return new IllegalStateException("a function of single rows has no states and no timers");
    }

    @Override
    public Object value(int state) {
        throw none();
    }

    @Override
    public void setValue(int state, Object value) {
        throw none();
    }

    @Override
    public Iterable<Object> elements(int state) {
        throw none();
    }

    @Override
    public void append(int state, Object element) {
        throw none();
    }

    @Override
    public Iterable<Map.Entry<Object, Object>> entries(int state) {
        throw none();
    }

    @Override
    public boolean contains(int state, Object key) {
        throw none();
    }

    @Override
    public Object get(int state, Object key) {
        throw none();
    }

    @Override
    public void put(int state, Object key, Object value) {
        throw none();
    }

    @Override
    public void remove(int state, Object key) {
        throw none();
    }

    @Override
    public void clear(int state) {
        throw none();
    }

    @Override
    public void register(String name, long time) {
        throw none();
    }

    @Override
    public void unregister(String name) {
        throw none();
    }

    @Override
    public void unregister(long time) {
        throw none();
    }

    @Override
    public void unregisterAll() {
        throw none();
    }
}

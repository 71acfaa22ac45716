package flinkplan.bridge;

import flinkplan.functions.Methods;
import flinkplan.runtime.udf.ScalarCall;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.util.Collector;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/** A call of a table function: the rows that it collects, as an array; a row has one field where values are no rows. */
final class Table implements ScalarCall {
    private final Calls.Prepared call;
    private final MethodHandle spread;
    private final boolean emitsRows;
    private final List<Object> rows = new ArrayList<>();

    <T> Table(Calls.Prepared call, TableFunction<T> function) {
        this.call = call;
        emitsRows = Converters.isRow(call.types.getOutputDataType().getLogicalType());
        try {
            MethodHandle eval = Methods.bound(
                    function,
                    "eval",
                    call.arguments.stream().map(DataType::getConversionClass).collect(Collectors.toList()));
            spread = eval.asSpreader(Object[].class, eval.type().parameterCount());
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        function.setCollector(new Collector<T>() {
            @Override
            public void collect(T value) {
                add(value);
            }

            @Override
            public void close() {}
        });
    }

    private void add(Object value) {
        Object converted = call.result.toSparkOrNull(value);
        if (!emitsRows) {
            rows.add(new GenericInternalRow(new Object[] {converted}));
        } else if (converted != null) {
            rows.add(converted);
        }
    }

    @Override
    public Object callAll(Object... arguments) {
        Object[] values = new Object[arguments.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = call.argument(i, arguments[i]);
        }
        rows.clear();
        try {
            Object ignored = (Object) spread.invokeExact(values);
        } catch (Throwable e) { // whatever the function raises
            throw call.failed(e);
        }
        return new GenericArrayData(rows.toArray());
    }

    @Override
    public void close() {
        call.close();
    }
}

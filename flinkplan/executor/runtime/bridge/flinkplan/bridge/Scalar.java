package flinkplan.bridge;

import flinkplan.functions.Methods;
import flinkplan.runtime.udf.ScalarCall;
import java.lang.invoke.MethodHandle;
import java.util.stream.Collectors;
import org.apache.flink.table.types.DataType;

/** A call of a scalar function. */
final class Scalar implements ScalarCall {
    private final Calls.Prepared call;
    private final MethodHandle spread;
    private final Direct direct;

    /** The call of a method with a few arguments, which a JVM compiles as if it was written out. */
    interface Direct {
        Object call(Object a, Object b);
    }

    Scalar(Calls.Prepared call) {
        this.call = call;
        try {
            MethodHandle eval = Methods.bound(
                    call.function,
                    "eval",
                    call.arguments.stream().map(DataType::getConversionClass).collect(Collectors.toList()));
            spread = eval.asSpreader(Object[].class, eval.type().parameterCount());
            direct = DirectCalls.of(call.function, call.arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    @Override
    public Object call(Object a) {
        if (direct == null) {
            return callAll(a);
        }
        try {
            return call.result.toSparkOrNull(direct.call(call.argument(0, a), null));
        } catch (Throwable e) { // whatever the function raises
            throw call.failed(e);
        }
    }

    @Override
    public Object call(Object a, Object b) {
        if (direct == null) {
            return callAll(a, b);
        }
        try {
            return call.result.toSparkOrNull(direct.call(call.argument(0, a), call.argument(1, b)));
        } catch (Throwable e) {
            throw call.failed(e);
        }
    }

    @Override
    public Object callAll(Object... arguments) {
        Object[] values = new Object[arguments.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = call.argument(i, arguments[i]);
        }
        try {
            return call.result.toSparkOrNull((Object) spread.invokeExact(values));
        } catch (Throwable e) {
            throw call.failed(e);
        }
    }

    @Override
    public void close() {
        call.close();
    }
}

package flinkplan.bridge;

import flinkplan.functions.Methods;
import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.List;
import org.apache.flink.table.types.DataType;

/** Calls of {@code eval} with one or two arguments by a class that is made for them, not by reflection. */
final class DirectCalls {
    private static final int MOST = 2;

    private DirectCalls() {}

    /** The call of the function; null where it is called otherwise. */
    static Scalar.Direct of(Object function, List<DataType> arguments) {
        int count = arguments.size();
        if (count == 0 || count > MOST) {
            return null;
        }
        try {
            Method method =
                    Methods.fixed(function.getClass(), "eval", arguments.stream().map(DataType::getConversionClass).toList());
            if (method == null || method.getReturnType() == void.class) {
                return null;
            }
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(function.getClass(), MethodHandles.lookup());
            MethodHandle handle = lookup.unreflect(method);
            MethodType own = handle.type().wrap();
            if (count == 1) {
                One one = (One) made(lookup, One.class, handle, own, MethodType.genericMethodType(1)).invoke(function);
                return (a, b) -> one.call(a);
            }
            return (Scalar.Direct)
                    made(lookup, Scalar.Direct.class, handle, own, MethodType.genericMethodType(2)).invoke(function);
        } catch (Throwable e) { // as where the lookup has no access
            return null;
        }
    }

    /** The call of a method with one argument. */
    interface One {
        Object call(Object a);
    }

    private static MethodHandle made(
            MethodHandles.Lookup lookup, Class<?> type, MethodHandle handle, MethodType own, MethodType erased)
            throws ReflectiveOperationException, java.lang.invoke.LambdaConversionException {
        CallSite site = LambdaMetafactory.metafactory(
                lookup,
                "call",
                MethodType.methodType(type, own.parameterType(0)),
                erased,
                handle,
                own.dropParameterTypes(0, 1));
        return site.getTarget();
    }
}

package flinkplan.functions;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The method of a function that takes a call, as Java's compiler chooses among overloads. */
public final class Methods {
    private static final Map<Class<?>, Class<?>> BOXES =
            Map.of(
                    boolean.class, Boolean.class,
                    byte.class, Byte.class,
                    short.class, Short.class,
                    int.class, Integer.class,
                    long.class, Long.class,
                    float.class, Float.class,
                    double.class, Double.class,
                    char.class, Character.class,
                    void.class, Void.class);

    private Methods() {}

    /**
     * The method of this name that takes arguments of these classes, bound to the function; it takes and gives objects.
     *
     * @throws NoSuchMethodException where there is none
     */
    public static MethodHandle bound(Object function, String name, List<Class<?>> arguments)
            throws ReflectiveOperationException {
        MethodHandle handle = handle(function.getClass(), name, arguments).bindTo(function);
        return handle.asType(handle.type().generic().changeReturnType(Object.class));
    }

    private static MethodHandle handle(Class<?> type, String name, List<Class<?>> arguments)
            throws ReflectiveOperationException {
        Method best = best(type, name, arguments);
        MethodHandle handle = MethodHandles.lookup().unreflect(best).asFixedArity();
        if (takesOneByOne(best, arguments)) {
            return handle;
        }
        int fixed = best.getParameterCount() - 1;
        return handle.asCollector(best.getParameterTypes()[fixed], arguments.size() - fixed);
    }

    /** The method itself, if it takes its arguments one by one; null if it takes the last ones as an array. */
    public static Method fixed(Class<?> type, String name, List<Class<?>> arguments) throws NoSuchMethodException {
        Method best = best(type, name, arguments);
        return takesOneByOne(best, arguments) ? best : null;
    }

    private static Method best(Class<?> type, String name, List<Class<?>> arguments) throws NoSuchMethodException {
        Method best = null;
        for (Method method : all(type, name)) {
            if (accepts(method, arguments) && (best == null || isMoreSpecific(method, best, arguments))) {
                best = method;
            }
        }
        if (best == null) {
            throw new NoSuchMethodException(type.getName() + "." + name + " with arguments of " + arguments);
        }
        best.setAccessible(true); // the class of the method may be another one, which is not public
        return best;
    }

    private static List<Method> all(Class<?> type, String name) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(name) && Modifier.isPublic(method.getModifiers()) && !method.isBridge()) {
                    methods.add(method);
                }
            }
        }
        return methods;
    }

    private static boolean accepts(Method method, List<Class<?>> arguments) {
        return takesOneByOne(method, arguments) || takesRest(method, arguments);
    }

    private static boolean takesOneByOne(Method method, List<Class<?>> arguments) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length != arguments.size()) {
            return false;
        }
        for (int i = 0; i < parameters.length; i++) {
            if (!fits(parameters[i], arguments.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean takesRest(Method method, List<Class<?>> arguments) {
        Class<?>[] parameters = method.getParameterTypes();
        int fixed = parameters.length - 1;
        if (!method.isVarArgs() || arguments.size() < fixed) {
            return false;
        }
        for (int i = 0; i < arguments.size(); i++) {
            if (!fits(i < fixed ? parameters[i] : parameters[fixed].getComponentType(), arguments.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Class<?> parameter, Class<?> argument) {
        return boxed(parameter).isAssignableFrom(boxed(argument));
    }

    private static boolean isMoreSpecific(Method method, Method other, List<Class<?>> arguments) {
        boolean one = takesOneByOne(method, arguments);
        if (one != takesOneByOne(other, arguments)) {
            return one;
        }
        Class<?>[] own = method.getParameterTypes();
        Class<?>[] others = other.getParameterTypes();
        int score = 0;
        for (int i = 0; i < Math.min(own.length, others.length); i++) {
            boolean isNarrower = boxed(others[i]).isAssignableFrom(boxed(own[i]));
            boolean isWider = boxed(own[i]).isAssignableFrom(boxed(others[i]));
            score += (isNarrower ? 1 : 0) - (isWider ? 1 : 0);
        }
        return score > 0;
    }

    static Class<?> boxed(Class<?> type) {
        return BOXES.getOrDefault(type, type);
    }
}

package flinkplan.runtime.functions;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/**
 * Turns static methods of this package into Spark columns.
 *
 * <p>A method takes and returns Spark's internal values (UTF8String, primitives, ArrayData …), so that
 * generated code calls it without conversion. It is never called with a null; it may return one.
 */
public final class Functions {
    private static final Map<Class<?>, DataType> CASTS =
            Map.of(
                    boolean.class, DataTypes.BooleanType,
                    byte.class, DataTypes.ByteType,
                    short.class, DataTypes.ShortType,
                    int.class, DataTypes.IntegerType,
                    long.class, DataTypes.LongType,
                    float.class, DataTypes.FloatType,
                    double.class, DataTypes.DoubleType,
                    UTF8String.class, DataTypes.StringType,
                    byte[].class, DataTypes.BinaryType);

    private Functions() {}

    /**
     * The column that calls a method.
     *
     * @param owner the simple name of a class of this package
     * @param name the name of one of its static methods
     * @param returns the JSON of the Spark type of the result
     * @param operands the arguments; those of a simple type are cast to what the method takes
     */
    public static Column invoke(String owner, String name, String returns, List<Column> operands) {
        Class<?> type = find(owner);
        Class<?>[] parameters = method(type, name, operands.size()).getParameterTypes();
        List<Expression> arguments = new ArrayList<>();
        for (int i = 0; i < parameters.length; i++) {
            DataType cast = CASTS.get(parameters[i]);
            Column operand = operands.get(i);
            arguments.add(ExpressionUtils.expression(cast == null ? operand : operand.cast(cast)));
        }
        return ExpressionUtils.column(
                new StaticInvoke(
                        type,
                        DataType.fromJson(returns),
                        name,
                        asScala(arguments),
                        asScala(new ArrayList<AbstractDataType>()),
                        true,
                        true,
                        true,
                        Option.empty()));
    }

    private static Class<?> find(String owner) {
        try {
            String name = Functions.class.getPackageName() + "." + owner;
            return Class.forName(name, true, Functions.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new NoSuchElementException("there is no class of functions " + owner);
        }
    }

    private static Method method(Class<?> type, String name, int arity) {
        return Arrays.stream(type.getMethods())
                .filter(m -> Modifier.isStatic(m.getModifiers()))
                .filter(m -> m.getName().equals(name) && m.getParameterCount() == arity)
                .findFirst()
                .orElseThrow(() ->
                        new NoSuchElementException(type.getSimpleName() + " has no " + name + " of " + arity));
    }
}

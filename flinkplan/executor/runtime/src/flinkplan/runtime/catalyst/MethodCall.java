package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;

/**
 * Calls of an object's method for each row, as an expression of Spark.
 *
 * <p>Each task calls an object of its own, which is deserialized with the task's code. The method is also called where
 * arguments are NULL.
 */
public final class MethodCall {
    private MethodCall() {}

    /**
     * A column of a method whose result depends on the calls before it: there is one call for each row, in their order.
     *
     * @param result the type of what is returned, which is never NULL
     * @param types the types of the arguments
     */
    public static Column stateful(
            Object target, String method, DataType result, List<Column> arguments, List<? extends DataType> types) {
        return ExpressionUtils.column(call(target, method, result, false, false, expressions(arguments), types));
    }

    /** The same of a method without arguments, among the expressions of a plan. */
    public static Expression stateful(Object target, String method, DataType result) {
        return call(target, method, result, false, false, List.of(), List.of());
    }

    /**
     * A column of a method whose result depends on its arguments alone: Spark may leave out or repeat calls.
     *
     * @param nullable whether the result may be NULL
     */
    public static Column deterministic(
            Object target,
            String method,
            DataType result,
            boolean nullable,
            List<Column> arguments,
            List<? extends DataType> types) {
        return ExpressionUtils.column(call(target, method, result, nullable, true, expressions(arguments), types));
    }

    private static List<Expression> expressions(List<Column> columns) {
        return columns.stream().map(ExpressionUtils::expression).toList();
    }

    private static Expression call(
            Object target,
            String method,
            DataType result,
            boolean nullable,
            boolean isDeterministic,
            List<Expression> arguments,
            List<? extends DataType> types) {
        Expression object = new Literal(target, new ObjectType(target.getClass()));
        List<AbstractDataType> inputs = List.copyOf(types);
        return new Invoke(
                object, method, result, asScala(arguments), asScala(inputs), false, nullable, isDeterministic);
    }
}

package flinkplan.runtime.udf;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.catalyst.NaryExpression;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.Block;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;

/** A call of a user's function, as an expression of Spark: generated code hands it the values of its arguments. */
public final class FunctionCall extends NaryExpression {
    private static final int DIRECT = 2;

    private final Description description;
    private final DataType result;
    private final boolean isDeterministic;
    private final boolean emitsRows;
    private final Opened opened;

    private FunctionCall(
            List<Expression> arguments,
            Description description,
            DataType result,
            boolean isDeterministic,
            boolean emitsRows) {
        super(arguments, description, result, isDeterministic, emitsRows);
        this.description = description;
        this.result = result;
        this.isDeterministic = isDeterministic;
        this.emitsRows = emitsRows;
        this.opened = new Opened(description, emitsRows);
    }

    /**
     * A column of calls.
     *
     * @param result the type of the result
     * @param isDeterministic whether Spark may leave out or repeat calls
     * @param emitsRows whether it is a table function, whose result is an array of rows
     */
    public static Column column(
            Description description,
            DataType result,
            boolean isDeterministic,
            boolean emitsRows,
            List<Column> arguments) {
        List<Expression> expressions =
                arguments.stream().map(ExpressionUtils::expression).toList();
        return ExpressionUtils.column(
                new FunctionCall(expressions, description, result, isDeterministic, emitsRows));
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new FunctionCall(children, description, result, isDeterministic, emitsRows);
    }

    @Override
    public DataType dataType() {
        return result;
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    public boolean foldable() {
        return false; // Spark would call it on the driver
    }

    @Override
    public boolean deterministic() {
        return isDeterministic && super.deterministic();
    }

    @Override
    public Object eval(InternalRow row) {
        Object[] arguments = new Object[children().length()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = children().apply(i).eval(row);
        }
        return opened.get().callAll(arguments);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        String call = context.addReferenceObj("call", new Opened(description, emitsRows), Opened.class.getName());
        StringBuilder arguments = new StringBuilder();
        Block block = null;
        for (int i = 0; i < children().length(); i++) {
            ExprCode argument = children().apply(i).genCode(context);
            block = block == null ? argument.code() : block.$plus(argument.code());
            arguments.append(i == 0 ? "" : ", ")
                    .append("(")
                    .append(argument.isNull())
                    .append(" ? null : (Object) ")
                    .append(argument.value())
                    .append(")");
        }
        String list = children().length() > DIRECT
                ? ".callAll(new Object[] {" + arguments + "})"
                : ".call(" + arguments + ")";
        String value = context.freshName("result");
        String boxed = CodeGenerator.boxedType(result);
        String java = CodeGenerator.javaType(result);
        String text = "Object " + value + " = " + call + ".get()" + list + ";\n"
                + "boolean " + code.isNull() + " = " + value + " == null;\n"
                + java + " " + code.value() + " = " + value + " == null ? "
                + CodeGenerator.defaultValue(result, false) + " : (" + boxed + ") " + value + ";\n";
        Block own = new CodeBlock(asScala(List.of(text)), asScala(List.<JavaCode>of()));
        return code.copy(block == null ? own : block.$plus(own), code.isNull(), code.value());
    }
}

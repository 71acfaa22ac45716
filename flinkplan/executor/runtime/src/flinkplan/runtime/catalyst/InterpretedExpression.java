package flinkplan.runtime.catalyst;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;

/** An expression of ours among Spark's: {@code eval} computes it, and the code that Spark generates calls that. */
public abstract class InterpretedExpression extends NaryExpression implements CodegenFallback {
    /**
     * @param children the expressions that this one reads
     * @param others what else tells it from others of its class
     */
    protected InterpretedExpression(List<Expression> children, Object... others) {
        super(children, others);
    }

    @Override
    public final ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }
}

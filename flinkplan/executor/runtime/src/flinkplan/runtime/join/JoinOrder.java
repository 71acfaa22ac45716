package flinkplan.runtime.join;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset$;
import scala.Option;
import scala.Some;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Inner joins behind a product of two inputs, in an order of Spark's choice.
 *
 * <p>Flink joins tables in the order of FROM. Where no condition connects the first two, each row of one comes with each
 * of the other, before a third one is joined that has a condition with both. Spark joins first what a condition connects,
 * but only among joins that stand right above each other, without projections in between.
 */
final class JoinOrder {
    private JoinOrder() {}

    /**
     * The same rows, with projections between the joins above them where there is a product among these.
     *
     * @param joined a join, of which nothing has been selected yet
     */
    static Dataset<Row> free(Dataset<Row> joined) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) joined;
        LogicalPlan plan = dataset.queryExecution().analyzed();
        if (!(plan instanceof Join join) || plan.isStreaming() || !isInner(join) || join.condition().isEmpty()) {
            return joined;
        }
        LogicalPlan below = join.left();
        Map<ExprId, Expression> values = new HashMap<>();
        while (below instanceof Project project && areMovable(project)) {
            for (NamedExpression column : CollectionConverters.asJava(project.projectList())) {
                if (column instanceof Alias alias) {
                    values.put(alias.exprId(), alias.child());
                }
            }
            below = project.child();
        }
        if (!hasProduct(below)) {
            return joined;
        }
        List<NamedExpression> columns = new ArrayList<>();
        for (Attribute column : CollectionConverters.asJava(join.output())) {
            Expression value = replaced(column, values);
            columns.add(
                    value == column
                            ? column
                            : new Alias(
                                    value,
                                    column.name(),
                                    column.exprId(),
                                    column.qualifier(),
                                    new Some<>(column.metadata()),
                                    asScala(List.of())));
        }
        Expression condition = replaced(join.condition().get(), values);
        Join moved = new Join(below, join.right(), Inner$.MODULE$, new Some<>(condition), join.hint());
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), new Project(asScala(columns), moved));
    }

    /** Whether the conditions of a tree of inner joins leave some of its inputs without a connection to the others. */
    private static boolean hasProduct(LogicalPlan plan) {
        List<AttributeSet> groups = new ArrayList<>();
        List<AttributeSet> conditions = new ArrayList<>();
        LogicalPlan rest = plan;
        while (rest instanceof Join join && isInner(join)) {
            groups.add(join.right().outputSet());
            join.condition().foreach(condition -> conditions.add(condition.references()));
            rest = join.left();
        }
        groups.add(rest.outputSet());
        for (AttributeSet read : conditions) {
            AttributeSet connected = AttributeSet$.MODULE$.empty();
            for (Iterator<AttributeSet> all = groups.iterator(); all.hasNext(); ) {
                AttributeSet group = all.next();
                if (group.intersect(read).nonEmpty()) {
                    connected = connected.$plus$plus(group);
                    all.remove();
                }
            }
            groups.add(connected);
        }
        return groups.stream().filter(AttributeSet::nonEmpty).count() > 1;
    }

    private static boolean isInner(Join join) {
        return join.joinType().equals(Inner$.MODULE$) && join.hint().isEmpty();
    }

    /** Whether columns are the same if they are computed of rows that have been joined. */
    private static boolean areMovable(Project project) {
        return CollectionConverters.asJava(project.projectList()).stream()
                .map(Expression.class::cast)
                .allMatch(column -> column.deterministic() && !column.containsPattern(TreePattern.PYTHON_UDF()));
    }

    /** An expression over columns of which some have values that are computed of others, perhaps in several steps. */
    private static Expression replaced(Expression expression, Map<ExprId, Expression> values) {
        Expression before = expression;
        Expression after = before.transformUp(new ByValue(values));
        while (!after.fastEquals(before)) {
            before = after;
            after = before.transformUp(new ByValue(values));
        }
        return after;
    }

    private static final class ByValue extends AbstractPartialFunction<Expression, Expression> {
        private final Map<ExprId, Expression> values;

        ByValue(Map<ExprId, Expression> values) {
            this.values = values;
        }

        @Override
        public boolean isDefinedAt(Expression expression) {
            return expression instanceof Attribute column && values.containsKey(column.exprId());
        }

        @Override
        public Expression apply(Expression expression) {
            return values.get(((Attribute) expression).exprId());
        }
    }
}

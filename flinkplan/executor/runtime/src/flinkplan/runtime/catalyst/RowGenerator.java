package flinkplan.runtime.catalyst;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.DataType;
import scala.Enumeration;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A generator of ours among Spark's expressions: it reads the rows of a task and emits others. */
public abstract class RowGenerator extends InterpretedExpression implements Generator {
    /**
     * @param columns what it reads of a row
     * @param others what else tells it from others of its class
     */
    protected RowGenerator(List<Expression> columns, Object... others) {
        super(columns, others);
    }

    /** What a generator emits of rows; {@code of}: the generator over their columns. */
    protected static Dataset<Row> run(Dataset<Row> rows, Function<List<Expression>, RowGenerator> of) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) rows;
        LogicalPlan child = dataset.queryExecution().analyzed();
        List<Expression> columns = List.copyOf(CollectionConverters.asJava(child.output()));
        RowGenerator generator = of.apply(columns);
        List<Object> dropped = List.copyOf(IntStream.range(0, columns.size()).boxed().toList());
        List<Attribute> output =
                List.copyOf(CollectionConverters.asJava(DataTypeUtils.toAttributes(generator.elementSchema())));
        LogicalPlan plan = new Generate(generator, asScala(dropped), false, Option.empty(), asScala(output), child);
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
    }

    @Override
    public final Seq<Enumeration.Value> nodePatterns() {
        return asScala(List.of(TreePattern.GENERATOR()));
    }

    /** Part of every Scala trait that has a value: there is nothing to set. */
    @Override
    public final void org$apache$spark$sql$catalyst$expressions$Generator$_setter_$nodePatterns_$eq(
            Seq<Enumeration.Value> patterns) {}

    @Override
    public final boolean supportCodegen() {
        return false;
    }

    @Override
    public final DataType dataType() {
        return Generator.super.dataType();
    }

    @Override
    public final boolean foldable() {
        return false;
    }

    @Override
    public final boolean nullable() {
        return false;
    }
}

package flinkplan.runtime.operator;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.batch.KeyedPass;
import flinkplan.runtime.catalyst.PhysicalPlanRules;
import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Packed;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.state.KeyOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.SortDirection;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapGroups$;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A kernel as an operator of a Spark query. */
public final class KernelOperator {
    /** The session's setting that says which output mode the query has: {@code append}, unless it is set. */
    public static final String OUTPUT_MODE = "flinkplan.output-mode";

    private KernelOperator() {}

    /**
     * Runs a kernel over rows keyed by their first {@code keys} columns: those of a stream with a state store, others
     * key by key in one {@link KeyedPass}.
     *
     * <p>In a stream the key goes into states, so that it is grouped by as it is kept there. Watermarks among the rows
     * have the key's columns and a target behind them.
     */
    public static Dataset<Row> over(Dataset<Row> input, int keys, Kernel kernel) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) input;
        boolean streams = dataset.isStreaming();
        if (streams) {
            PhysicalPlanRules.add(dataset.sparkSession(), new KeyOrder());
        }
        LogicalPlan child = dataset.queryExecution().analyzed();
        List<Attribute> columns = CollectionConverters.asJava(child.output());
        List<Integer> places = new ArrayList<>(IntStream.range(0, keys).boxed().toList());
        columns.stream()
                .filter(column -> column.name().equals(Hidden.TARGET))
                .forEach(target -> places.add(columns.indexOf(target)));
        List<Attribute> key = places.stream().map(columns::get).toList();
        Grouped grouped = grouped(child, key, streams);
        LogicalPlan plan = grouped.plan();
        List<Attribute> grouping = grouped.key();
        StructType keyType = DataTypeUtils$.MODULE$.fromAttributes(asScala(key));
        LogicalPlan run = streams
                ? TransformWithState$.MODULE$.<InternalRow, InternalRow, InternalRow>apply(
                        asScala(grouping),
                        child.output(),
                        kernel,
                        kernel.timeMode(),
                        outputMode(dataset),
                        plan,
                        Rows.stateEncoder(keyType),
                        Rows.encoder(dataset.schema()),
                        Rows.encoder(kernel.outputSchema()))
                : MapGroups$.MODULE$.<InternalRow, InternalRow, InternalRow>apply(
                        new KeyedPass(kernel, dataset.schema()),
                        asScala(grouping),
                        child.output(),
                        asScala(order(columns, kernel.takesRowsBy())),
                        plan,
                        Rows.encoder(keyType, grouped.packed()),
                        Rows.encoder(dataset.schema()),
                        Rows.encoder(kernel.outputSchema()));
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), run);
    }

    /**
     * Rows that can be grouped by a key.
     *
     * @param key the columns that stand for the key; those that are packed are not among the columns of the rows
     * @param packed which of them are packed
     */
    public record Grouped(LogicalPlan plan, List<Attribute> key, BitSet packed) {}

    /** The rows of a plan as a stream groups them by their first {@code keys} columns. */
    public static Grouped grouped(LogicalPlan plan, int keys) {
        List<Attribute> columns = CollectionConverters.asJava(plan.output());
        return grouped(plan, columns.subList(0, keys), true);
    }

    private static Grouped grouped(LogicalPlan child, List<Attribute> key, boolean streams) {
        List<NamedExpression> widened = new ArrayList<>(CollectionConverters.asJava(child.output()));
        List<Attribute> grouping = new ArrayList<>();
        BitSet packed = new BitSet();
        for (int i = 0; i < key.size(); i++) {
            DataType type = key.get(i).dataType();
            packed.set(i, streams ? Packed.isNeeded(type) : !RowOrdering.isOrderable(type));
            NamedExpression kept = packed.get(i) ? packed(key.get(i)) : key.get(i);
            if (packed.get(i)) {
                widened.add(kept);
            }
            grouping.add(kept.toAttribute());
        }
        return new Grouped(packed.isEmpty() ? child : new Project(asScala(widened), child), grouping, packed);
    }

    private static OutputMode outputMode(Dataset<Row> dataset) {
        boolean updates = dataset.sparkSession().conf().get(OUTPUT_MODE, "append").equals("update");
        return updates ? OutputMode.Update() : OutputMode.Append();
    }

    /** The order of the rows of a key: that of {@link Kernel#order}. */
    private static List<SortOrder> order(List<Attribute> columns, String time) {
        List<SortOrder> order = new ArrayList<>();
        if (time != null) {
            column(columns, time).ifPresent(first -> order.add(ordered(first, Ascending$.MODULE$)));
        }
        column(columns, Hidden.SEQUENCE).ifPresent(sequence -> order.add(ordered(sequence, Ascending$.MODULE$)));
        column(columns, Hidden.ORDER).ifPresent(place -> order.add(ordered(place, Ascending$.MODULE$)));
        column(columns, Hidden.KIND).ifPresent(kind -> {
            Expression retracts = new BitwiseAnd(kind, new Literal((byte) 1, DataTypes.ByteType));
            order.add(ordered(retracts, Descending$.MODULE$));
        });
        column(columns, Hidden.RIGHT).ifPresent(right -> order.add(ordered(right, Ascending$.MODULE$)));
        column(columns, Hidden.TIE).ifPresent(tie -> order.add(ordered(tie, Ascending$.MODULE$)));
        return order;
    }

    private static Optional<Attribute> column(List<Attribute> columns, String name) {
        return columns.stream().filter(column -> column.name().equals(name)).findFirst();
    }

    private static SortOrder ordered(Expression by, SortDirection direction) {
        return new SortOrder(by, direction, direction.defaultNullOrdering(), asScala(List.<Expression>of()));
    }

    private static NamedExpression packed(Attribute column) {
        Seq<String> none = asScala(List.<String>of());
        return new Alias(new Packed(column), column.name(), NamedExpression.newExprId(), none, Option.empty(), none);
    }
}

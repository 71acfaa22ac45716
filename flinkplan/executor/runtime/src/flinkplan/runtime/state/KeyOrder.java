package flinkplan.runtime.state;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Has the rows of an operator with state come in the order in which RocksDB has its keys.
 *
 * <p>Spark sorts them by their keys, to bring those of a key together, for which any order is as good. Avro writes whole
 * numbers as variable-length zigzag ones, the lowest bits first: in the order of the numbers, keys that follow each other
 * are in blocks far apart.
 */
public final class KeyOrder extends Rule<SparkPlan> {
    private static final int GROUP = 7;
    private static final Set<DataType> WHOLE = Set.of(
            DataTypes.IntegerType,
            DataTypes.LongType,
            DataTypes.DateType,
            DataTypes.TimestampType,
            DataTypes.TimestampNTZType);

    @Override
    public SparkPlan apply(SparkPlan plan) {
        var children =
                CollectionConverters.asJava(plan.children()).stream().map(this::apply).toList();
        SparkPlan same = plan.withNewChildren(asScala(children));
        if (same instanceof TransformWithStateExec operator && operator.child() instanceof SortExec sort) {
            List<SparkPlan> sorted = new ArrayList<>(CollectionConverters.asJava(operator.children()));
            sorted.set(sorted.indexOf(sort), asStored(sort));
            return operator.withNewChildren(asScala(sorted));
        }
        return same;
    }

    private static SortExec asStored(SortExec sort) {
        List<SortOrder> order = CollectionConverters.asJava(sort.sortOrder()).stream()
                .map(by -> by.copy(asStored(by.child()), by.direction(), by.nullOrdering(), by.sameOrderExpressions()))
                .toList();
        return sort.copy(asScala(order), sort.global(), sort.child(), sort.testSpillFrequency());
    }

    private static Expression asStored(Expression key) {
        return WHOLE.contains(key.dataType())
                ? new StaticInvoke(
                        KeyOrder.class,
                        DataTypes.LongType,
                        "asStored",
                        asScala(List.of(key)),
                        asScala(List.<AbstractDataType>of()),
                        true,
                        false,
                        true,
                        Option.empty())
                : key;
    }

    /** A number that stands among others as the bytes do that Avro writes of one, those of equal length at least. */
    public static long asStored(long key) {
        long zigzag = (key << 1) ^ (key >> (Long.SIZE - 1));
        long groups = 0;
        for (int at = 0; at < Long.SIZE; at += GROUP) {
            int bits = Math.min(GROUP, Long.SIZE - at);
            groups = groups << bits | zigzag >>> at & (1L << bits) - 1;
        }
        return groups ^ Long.MIN_VALUE;
    }

    /** The same of an INT. */
    public static long asStored(int key) {
        return asStored((long) key);
    }
}

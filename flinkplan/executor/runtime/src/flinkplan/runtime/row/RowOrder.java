package flinkplan.runtime.row;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** An ORDER BY over columns of rows. */
public final class RowOrder implements Comparator<InternalRow>, Serializable {
    private final InterpretedOrdering ordering;

    /** {@code ascending} and {@code nullsLast} say for each of {@code columns} how it is ordered. */
    public RowOrder(StructType row, int[] columns, boolean[] ascending, boolean[] nullsLast) {
        List<SortOrder> orders = new ArrayList<>();
        for (int i = 0; i < columns.length; i++) {
            orders.add(new SortOrder(
                    new BoundReference(columns[i], row.apply(columns[i]).dataType(), true),
                    ascending[i] ? Ascending$.MODULE$ : Descending$.MODULE$,
                    nullsLast[i] ? NullsLast$.MODULE$ : NullsFirst$.MODULE$,
                    CollectionConverters.asScala(
                                    List.<org.apache.spark.sql.catalyst.expressions.Expression>of())
                            .toSeq()));
        }
        ordering = new InterpretedOrdering(asScala(orders));
    }

    @Override
    public int compare(InternalRow a, InternalRow b) {
        return ordering.compare(a, b);
    }
}

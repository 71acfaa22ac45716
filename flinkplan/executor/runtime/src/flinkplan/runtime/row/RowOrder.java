package flinkplan.runtime.row;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.Comparator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.types.StructType;

/** The order of rows by an ORDER BY; it is interpreted, so that it goes to tasks as it is. */
public final class RowOrder implements Comparator<InternalRow>, Serializable {
    private final InterpretedOrdering ordering;

    public RowOrder(StructType schema, SortFields fields) {
        ordering = new InterpretedOrdering(asScala(fields.over(schema)));
    }

    @Override
    public int compare(InternalRow a, InternalRow b) {
        return ordering.compare(a, b);
    }
}

package flinkplan.runtime.row;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The fields of an ORDER BY.
 *
 * @param columns their indexes
 * @param ascending whether the values of each grow
 * @param nullsLast whether NULLs of each come last
 */
public record SortFields(int[] columns, boolean[] ascending, boolean[] nullsLast) implements Serializable {
    /** The order of rows of a schema, compiled; it cannot be serialized. */
    public BaseOrdering compile(StructType schema) {
        return GenerateOrdering$.MODULE$.generate(asScala(over(schema)));
    }

    List<SortOrder> over(StructType schema) {
        List<SortOrder> orders = new ArrayList<>();
        for (int i = 0; i < columns.length; i++) {
            StructField field = schema.apply(columns[i]);
            orders.add(new SortOrder(
                    new BoundReference(columns[i], field.dataType(), field.nullable()),
                    ascending[i] ? Ascending$.MODULE$ : Descending$.MODULE$,
                    nullsLast[i] ? NullsLast$.MODULE$ : NullsFirst$.MODULE$,
                    asScala(List.<Expression>of())));
        }
        return orders;
    }
}

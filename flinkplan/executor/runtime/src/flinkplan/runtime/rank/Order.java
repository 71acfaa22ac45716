package flinkplan.runtime.rank;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullOrdering;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortDirection;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** An order of rows by some of their columns. */
public record Order(int[] columns, boolean[] ascending, boolean[] nullsLast) implements Serializable {
    BaseOrdering compile(StructType schema) {
        List<SortOrder> orders = new ArrayList<>();
        for (int i = 0; i < columns.length; i++) {
            StructField field = schema.apply(columns[i]);
            SortDirection direction = ascending[i] ? Ascending$.MODULE$ : Descending$.MODULE$;
            NullOrdering nulls = nullsLast[i] ? NullsLast$.MODULE$ : NullsFirst$.MODULE$;
            Expression column = new BoundReference(columns[i], field.dataType(), field.nullable());
            var none = asScala(List.<Expression>of());
            orders.add(new SortOrder(column, direction, nulls, none));
        }
        return GenerateOrdering$.MODULE$.generate(asScala(orders));
    }
}

package flinkplan.runtime;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * What an operator emits: the columns of the plan, then the hidden ones.
 *
 * @param changelog whether the rows have kinds; if not, they are insert-only
 */
public record Output(StructType columns, boolean changelog) implements Serializable {
    public StructType schema() {
        StructType visible = changelog ? columns.add(Hidden.KIND, DataTypes.ByteType, false) : columns;
        return visible.add(Hidden.SEQUENCE, DataTypes.LongType, false);
    }

    /** A row of these columns. */
    public InternalRow row(InternalRow values, byte kind, long sequence) {
        return new JoinedRow(values, changelog ? Rows.of(kind, sequence) : Rows.of(sequence));
    }
}

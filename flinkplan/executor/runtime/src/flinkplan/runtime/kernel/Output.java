package flinkplan.runtime.kernel;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Place;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.Collection;
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
        StructType schema = columns;
        if (changelog) {
            schema = schema.add(Hidden.KIND, DataTypes.ByteType, false).add(Hidden.ORDER, DataTypes.LongType, false);
        }
        return schema.add(Hidden.SEQUENCE, DataTypes.LongType, false);
    }

    /** A row of these columns; {@code place}: among those of its sequence number, a {@link Place}. */
    public InternalRow row(InternalRow values, byte kind, long place, long sequence) {
        return new JoinedRow(values, changelog ? Rows.of(kind, place, sequence) : Rows.of(sequence));
    }

    /** Divides the places of rows among them that one row has brought about, in their order. */
    void divide(Collection<InternalRow> rows) {
        int index = 0;
        for (InternalRow row : rows) {
            row.update(placeOrdinal(), Place.part(row.getLong(placeOrdinal()), index++, rows.size()));
        }
    }

    private int placeOrdinal() {
        return columns.length() + 1;
    }
}

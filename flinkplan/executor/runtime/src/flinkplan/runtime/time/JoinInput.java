package flinkplan.runtime.time;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Where a row of two united inputs has its values: the columns {@code __right} (whether it is the right input's),
 * then one struct an input, of which one is NULL.
 */
record JoinInput(int ordinal, int leftWidth, int rightWidth) {

    static JoinInput of(StructType input) {
        int ordinal = input.fieldIndex(Hidden.RIGHT);
        return new JoinInput(
                ordinal,
                Rows.struct(input, ordinal + 1).length(),
                Rows.struct(input, ordinal + 2).length());
    }

    boolean isRight(InternalRow row) {
        return row.getBoolean(ordinal);
    }

    /** The values of a row of either input. */
    InternalRow values(InternalRow row) {
        return isRight(row) ? row.getStruct(ordinal + 2, rightWidth) : row.getStruct(ordinal + 1, leftWidth);
    }

    InternalRow noLeft() {
        return Rows.nulls(leftWidth);
    }

    InternalRow noRight() {
        return Rows.nulls(rightWidth);
    }
}

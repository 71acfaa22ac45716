package flinkplan.runtime.aggregate;

import flinkplan.runtime.Rows;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** ROW_NUMBER, RANK and DENSE_RANK of the last row, of rows that come in order. */
public final class Ranking extends Accumulator {
    private final int[] columns;
    private final StructType types;
    private final boolean dense;

    private transient Object[] last;
    private transient long rows;
    private transient long rank;

    /**
     * @param columns what rows are ordered by; rows that are equal in them share a rank. Without any, each row has
     *     its own
     * @param types the schema of those columns
     * @param dense whether the ranks after shared ones have no gap
     */
    public Ranking(int[] columns, StructType types, boolean dense) {
        this.columns = columns;
        this.types = types;
        this.dense = dense;
    }

    @Override
    StructType schema() {
        StructType schema = new StructType().add("rows", DataTypes.LongType).add("rank", DataTypes.LongType);
        return schema.merge(types, true);
    }

    @Override
    void reset() {
        last = new Object[columns.length];
        rows = 0;
        rank = 0;
    }

    @Override
    void load(InternalRow saved) {
        reset();
        rows = saved.getLong(0);
        rank = saved.getLong(1);
        for (int i = 0; i < columns.length; i++) {
            last[i] = saved.get(i + 2, types.apply(i).dataType());
        }
    }

    @Override
    InternalRow save() {
        Object[] saved = new Object[columns.length + 2];
        saved[0] = rows;
        saved[1] = rank;
        System.arraycopy(last, 0, saved, 2, last.length);
        return Rows.of(saved);
    }

    @Override
    void add(InternalRow row) {
        boolean tied = columns.length > 0 && rows > 0;
        for (int i = 0; i < columns.length; i++) {
            Object value = row.get(columns[i], types.apply(i).dataType());
            tied &= Objects.equals(value, last[i]);
            last[i] = value;
        }
        rows++;
        if (!tied) {
            rank = dense ? rank + 1 : rows;
        }
    }

    @Override
    Object value() {
        return rank;
    }
}

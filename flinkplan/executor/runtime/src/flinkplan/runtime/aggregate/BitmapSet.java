package flinkplan.runtime.aggregate;

import flinkplan.runtime.functions.Bitmaps;
import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.roaringbitmap.RoaringBitmap;

/**
 * BITMAP_BUILD_AGG and what ANDs, ORs or XORs bitmaps, of rows that are not taken back; XOR takes back what it adds.
 * NULLs are passed over.
 */
public final class BitmapSet extends Accumulator {
    /** What is made of the arguments. */
    public enum Operation {
        BUILD,
        AND,
        OR,
        XOR
    }

    private final int column;
    private final Operation operation;
    private final boolean counts;
    private transient long rows;
    private transient RoaringBitmap bitmap;

    /** @param counts whether the result is the number of members */
    public BitmapSet(int column, String operation, boolean counts) {
        this.column = column;
        this.operation = Operation.valueOf(operation);
        this.counts = counts;
    }

    @Override
    StructType schema() {
        return new StructType().add("rows", DataTypes.LongType).add("bitmap", DataTypes.BinaryType);
    }

    @Override
    void reset() {
        rows = 0;
        bitmap = new RoaringBitmap();
    }

    @Override
    void load(InternalRow saved) {
        rows = saved.getLong(0);
        bitmap = Bitmaps.read(saved.getBinary(1));
    }

    @Override
    InternalRow save() {
        return Rows.of(rows, Bitmaps.write(bitmap));
    }

    @Override
    void add(InternalRow row) {
        if (!row.isNullAt(column)) {
            combine(row);
            rows++;
        }
    }

    private void combine(InternalRow row) {
        if (operation == Operation.BUILD) {
            bitmap.add(row.getInt(column));
            return;
        }
        RoaringBitmap other = Bitmaps.read(row.getBinary(column));
        switch (operation) {
            case AND -> bitmap = rows == 0 ? other : RoaringBitmap.and(bitmap, other);
            case OR -> bitmap.or(other);
            default -> bitmap.xor(other);
        }
    }

    @Override
    void retract(InternalRow row) {
        if (operation != Operation.XOR) {
            super.retract(row);
        } else if (!row.isNullAt(column)) {
            combine(row);
            rows--;
        }
    }

    @Override
    Object value() {
        if (rows <= 0) {
            return null;
        }
        return counts ? (Object) bitmap.getLongCardinality() : Bitmaps.write(bitmap);
    }
}

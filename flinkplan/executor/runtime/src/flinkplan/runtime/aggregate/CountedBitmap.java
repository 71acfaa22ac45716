package flinkplan.runtime.aggregate;

import flinkplan.runtime.functions.Bitmaps;
import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.roaringbitmap.RoaringBitmap;

/** BITMAP_BUILD_AGG and what ANDs or ORs bitmaps, of rows that are taken back: counts in how many each member is. */
public final class CountedBitmap extends Accumulator {
    private static final StructType MEMBER = new StructType().add("member", DataTypes.IntegerType);

    private final int column;
    private final BitmapSet.Operation operation;
    private final boolean counts;
    private transient long rows;
    private transient Multiset members;

    /** @param counts whether the result is the number of members */
    public CountedBitmap(int column, String operation, boolean counts) {
        this.column = column;
        this.operation = BitmapSet.Operation.valueOf(operation);
        this.counts = counts;
    }

    @Override
    StructType schema() {
        return new StructType().add("rows", DataTypes.LongType);
    }

    @Override
    boolean isSelfContained() {
        return false;
    }

    @Override
    void open(States states, String name, long ttl) {
        members = new Multiset(states, name, MEMBER, ttl);
    }

    @Override
    void begin(boolean isNew) {
        members.begin(isNew);
    }

    @Override
    void reset() {
        rows = 0;
    }

    @Override
    void load(InternalRow saved) {
        rows = saved.getLong(0);
    }

    @Override
    InternalRow save() {
        return Rows.of(rows);
    }

    @Override
    void add(InternalRow row) {
        count(row, 1);
    }

    @Override
    void retract(InternalRow row) {
        count(row, -1);
    }

    private void count(InternalRow row, int by) {
        if (row.isNullAt(column)) {
            return;
        }
        rows += by;
        if (operation == BitmapSet.Operation.BUILD) {
            members.add(Rows.of(row.getInt(column)), by);
        } else {
            for (int member : Bitmaps.read(row.getBinary(column))) {
                members.add(Rows.of(member), by);
            }
        }
    }

    @Override
    Object value() {
        if (rows <= 0) {
            return null;
        }
        long needed = operation == BitmapSet.Operation.AND ? rows : 1;
        RoaringBitmap bitmap = new RoaringBitmap();
        members.forEach((member, count) -> {
            if (count >= needed) {
                bitmap.add(member.getInt(0));
            }
        });
        return counts ? (Object) bitmap.getLongCardinality() : Bitmaps.write(bitmap);
    }

    @Override
    void clear() {
        members.clear();
    }

    @Override
    void flush() {
        members.flush();
    }
}

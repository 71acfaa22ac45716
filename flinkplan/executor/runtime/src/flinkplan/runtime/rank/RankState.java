package flinkplan.runtime.rank;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.row.SortFields;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * What is kept of a partition: its first rows in one value, and others in a map, each by its key with the places that it
 * has among rows that are equal in the order.
 *
 * @param first the first rows, with how many rows have arrived and how many are in the map
 * @param map the other rows, or all of them
 * @param keyOf the key of a row
 * @param width the number of columns of a row
 */
record RankState(
        ValueState<InternalRow> first,
        MapState<InternalRow, InternalRow> map,
        BaseOrdering ordering,
        UnsafeProjection keyOf,
        int width) {
    private static final ArrayType ARRIVALS = DataTypes.createArrayType(DataTypes.LongType, false);

    /** Declares both. */
    static RankState open(Kernel kernel, StructType row, Keeping keeping, SortFields order, long ttl) {
        StructType place = new StructType().add("row", row, false).add("arrival", DataTypes.LongType, false);
        StructType first = new StructType()
                .add("arrivals", DataTypes.LongType, false)
                .add("others", DataTypes.LongType, false)
                .add("rows", DataTypes.createArrayType(place, false), false);
        StructType value = new StructType().add("row", row).add("arrivals", ARRIVALS, false);
        return new RankState(
                kernel.valueState("rankState-first", first, ttl),
                kernel.mapState("rankState", keeping.key(row), value, ttl),
                order.compile(row),
                keeping.projection(row),
                row.length());
    }

    /** The key of a row, to be kept. */
    InternalRow key(InternalRow row) {
        return keyOf.apply(row).copy();
    }

    /** An entry of the map. */
    PartitionRows.Entry entry(InternalRow value) {
        PartitionRows.Entry entry = new PartitionRows.Entry(value.getStruct(0, width));
        for (long arrival : value.getArray(1).toLongArray()) {
            entry.arrivals().add(arrival);
        }
        return entry;
    }

    void put(InternalRow key, PartitionRows.Entry entry) {
        map.updateValue(key, Rows.of(entry.row(), UnsafeArrayData.fromPrimitiveArray(entry.toArray())));
    }

    /** Places the first rows; returns how many others are in the map. */
    long placeFirst(InternalRow value, PartitionRows rows) {
        ArrayData kept = value.getArray(2);
        for (int i = 0; i < kept.numElements(); i++) {
            InternalRow place = kept.getStruct(i, 2);
            InternalRow row = place.getStruct(0, width);
            rows.place(key(row), row, place.getLong(1), PartitionRows.BEFORE);
        }
        rows.arrived(value.getLong(0));
        return value.getLong(1);
    }

    /** Keeps the rows in memory as the first ones. */
    void putFirst(PartitionRows rows, long others) {
        Object[] places = rows.sorted().stream()
                .map(occurrence -> Rows.of(occurrence.row(), occurrence.arrival()))
                .toArray();
        first.update(Rows.of(rows.arrivals(), others, new GenericArrayData(places)));
    }
}

package flinkplan.runtime.functions;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeMapData;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Maps as Flink has them: a key may be NULL. */
public final class Maps {
    private static final Map<UTF8String, MapType> TYPES = new ConcurrentHashMap<>();

    private Maps() {}

    /**
     * The map of keys and values, as many of the ones as of the others; the last value of a key wins.
     *
     * @param type the JSON of the map's Spark type
     */
    public static MapData of(ArrayData keys, ArrayData values, UTF8String type) {
        int size = keys.numElements();
        if (size != values.numElements()) {
            throw new IllegalArgumentException(
                    String.format(
                            "The length of the keys array %d is not equal to the length of the values array %d",
                            size, values.numElements()));
        }
        MapType map = TYPES.computeIfAbsent(type, json -> (MapType) DataType.fromJson(json.toString()));
        Map<Object, Integer> positions = new TreeMap<>(comparator(map.keyType()));
        Object[] distinct = new Object[size];
        Object[] last = new Object[size];
        for (int i = 0; i < size; i++) {
            Object key = keys.isNullAt(i) ? null : keys.get(i, map.keyType());
            Integer known = positions.putIfAbsent(key, positions.size());
            int position = known == null ? positions.size() - 1 : known;
            distinct[position] = key;
            last[position] = values.isNullAt(i) ? null : values.get(i, map.valueType());
        }
        ArrayData distinctKeys = first(distinct, positions.size());
        ArrayData lastValues = first(last, positions.size());
        return positions.containsKey(null)
                ? packed(distinctKeys, lastValues, map)
                : new ArrayBasedMapData(distinctKeys, lastValues);
    }

    /** The keys of a map, of which one may be null. */
    public static ArrayData keys(MapData map) {
        return map.keyArray();
    }

    private static ArrayData first(Object[] elements, int count) {
        return new GenericArrayData(Arrays.copyOf(elements, count));
    }

    private static Comparator<Object> comparator(DataType type) {
        return Comparator.nullsFirst(TypeUtils.getInterpretedOrdering(type));
    }

    /** A map in binary form: Spark copies it as it is, where it would look for no null among the keys of another. */
    private static MapData packed(ArrayData keys, ArrayData values, MapType type) {
        StructType both =
                new StructType()
                        .add("keys", new ArrayType(type.keyType(), true))
                        .add("values", new ArrayType(type.valueType(), true));
        UnsafeRow row = UnsafeProjection.create(both).apply(new GenericInternalRow(new Object[] {keys, values}));
        byte[] keyBytes = bytes(row.getArray(0));
        byte[] valueBytes = bytes(row.getArray(1));
        byte[] all =
                ByteBuffer.allocate(Long.BYTES + keyBytes.length + valueBytes.length)
                        .order(ByteOrder.nativeOrder())
                        .putLong(keyBytes.length)
                        .put(keyBytes)
                        .put(valueBytes)
                        .array();
        UnsafeMapData map = new UnsafeMapData();
        map.pointTo(all, Platform.BYTE_ARRAY_OFFSET, all.length);
        return map;
    }

    private static byte[] bytes(UnsafeArrayData array) {
        byte[] bytes = new byte[array.getSizeInBytes()];
        array.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET);
        return bytes;
    }
}

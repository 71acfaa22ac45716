package flinkplan.runtime.format;

import flinkplan.runtime.functions.LoneSurrogates;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.unsafe.types.UTF8String;

/** Access to Spark's inner values by Flink's types. */
final class Values {
    private Values() {}

    /** Gets the value at an index, which is not null there. */
    interface Getter extends Serializable {
        Object get(SpecializedGetters row, int index);
    }

    static Getter getter(FlinkType type) {
        int precision = type.precision(), scale = type.scale(), fields = type.size();
        return switch (type.root()) {
            case "BOOLEAN" -> SpecializedGetters::getBoolean;
            case "TINYINT" -> SpecializedGetters::getByte;
            case "SMALLINT" -> SpecializedGetters::getShort;
            case "INT", "DATE", "TIME" -> SpecializedGetters::getInt;
            case "BIGINT" -> SpecializedGetters::getLong;
            case "FLOAT" -> SpecializedGetters::getFloat;
            case "DOUBLE" -> SpecializedGetters::getDouble;
            case "DECIMAL" -> (row, i) -> row.getDecimal(i, precision, scale).toJavaBigDecimal();
            case "CHAR", "VARCHAR" -> (row, i) -> LoneSurrogates.decode(row.getUTF8String(i));
            case "BINARY", "VARBINARY" -> SpecializedGetters::getBinary;
            case "TIMESTAMP", "TIMESTAMP_LTZ" -> type.hasNanos()
                    ? (row, i) -> Times.wallClock(row.getStruct(i, 2))
                    : (row, i) -> Times.wallClock(row.getLong(i), 0);
            case "ARRAY" -> SpecializedGetters::getArray;
            case "MAP", "MULTISET" -> SpecializedGetters::getMap;
            case "ROW" -> (row, i) -> row.getStruct(i, fields);
            default -> interval(type);
        };
    }

    private static Getter interval(FlinkType type) {
        if (!type.root().startsWith("INTERVAL")) {
            throw new IllegalArgumentException("values of the type " + type.root() + " cannot be written");
        }
        boolean months = type.root().contains("YEAR") || type.root().contains("MONTH");
        return months ? SpecializedGetters::getInt : SpecializedGetters::getLong;
    }

    /**
     * A map that was read: entries come in the order of a hash table, as in Flink, where texts have the same hashes.
     */
    static MapData map(HashMap<?, Object> entries) {
        return new ArrayBasedMapData(
                new GenericArrayData(entries.keySet().toArray()), new GenericArrayData(entries.values().toArray()));
    }

    static List<Getter> getters(List<FlinkType> types) {
        List<Getter> getters = new ArrayList<>();
        types.forEach(type -> getters.add(getter(type)));
        return getters;
    }
}

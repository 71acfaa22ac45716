package flinkplan.runtime.format;

import java.io.Serializable;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.StringJoiner;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/** Rows as people read them: {@code [1, a, 2024-01-01T00:00]}. */
public record RowText(FlinkType type) implements Serializable {

    /** The text of a row of the type. */
    public String of(SpecializedGetters row) {
        StringJoiner text = new StringJoiner(", ", "[", "]");
        for (int i = 0; i < type.size(); i++) {
            text.add(value(row, i, type.child(i)));
        }
        return text.toString();
    }

    private static String value(SpecializedGetters row, int index, FlinkType type) {
        if (row.isNullAt(index)) {
            return "null";
        }
        Object value = Values.getter(type).get(row, index);
        return switch (type.root()) {
            case "DATE" -> Times.formatDate((int) value);
            case "TIME" -> Times.formatTime((int) value);
            case "TIMESTAMP_LTZ" -> ((LocalDateTime) value).toInstant(ZoneOffset.UTC).toString();
            case "ARRAY" -> array((ArrayData) value, type.child(0));
            case "MAP", "MULTISET" -> map((MapData) value, type);
            case "ROW" -> "+I" + new RowText(type).of((SpecializedGetters) value);
            case "BINARY", "VARBINARY" -> java.util.Arrays.toString((byte[]) value);
            default -> value.toString();
        };
    }

    private static String array(ArrayData values, FlinkType element) {
        StringJoiner text = new StringJoiner(", ", "[", "]");
        for (int i = 0; i < values.numElements(); i++) {
            text.add(value(values, i, element));
        }
        return text.toString();
    }

    private static String map(MapData map, FlinkType type) {
        FlinkType count = new FlinkType("INT", 0, 0, 0, java.util.List.of(), java.util.List.of(), true, false);
        FlinkType valueType = type.root().equals("MAP") ? type.child(1) : count;
        StringJoiner text = new StringJoiner(", ", "{", "}");
        for (int i = 0; i < map.numElements(); i++) {
            text.add(value(map.keyArray(), i, type.child(0)) + "=" + value(map.valueArray(), i, valueType));
        }
        return text.toString();
    }
}

package flinkplan.runtime.format;

import java.io.Serializable;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/** Rows as people read them: {@code [1, a, 2024-01-01T00:00]}. */
public final class RowText implements Serializable {
    private static final FlinkType COUNT =
            new FlinkType("INT", 0, 0, 0, java.util.List.of(), java.util.List.of(), true, false);

    private final Text[] columns;

    /** Appends the value at an index. */
    private interface Text extends Serializable {
        void append(StringBuilder text, SpecializedGetters row, int index);
    }

    /** The texts of rows of a type. */
    public RowText(FlinkType type) {
        columns = type.children().stream().map(RowText::text).toArray(Text[]::new);
    }

    /** Appends the text of a row of the type. */
    public void append(StringBuilder text, SpecializedGetters row) {
        text.append('[');
        for (int i = 0; i < columns.length; i++) {
            columns[i].append(i == 0 ? text : text.append(", "), row, i);
        }
        text.append(']');
    }

    private static Text text(FlinkType type) {
        Text text = notNull(type);
        return (out, row, i) -> {
            if (row.isNullAt(i)) {
                out.append("null");
            } else {
                text.append(out, row, i);
            }
        };
    }

    private static Text notNull(FlinkType type) {
        Values.Getter getter = Values.getter(type);
        return switch (type.root()) {
            case "INT" -> (out, row, i) -> out.append(row.getInt(i));
            case "BIGINT" -> (out, row, i) -> out.append(row.getLong(i));
            case "DATE" -> (out, row, i) -> out.append(Times.formatDate(row.getInt(i)));
            case "TIME" -> (out, row, i) -> out.append(Times.formatTime(row.getInt(i)));
            case "TIMESTAMP_LTZ" -> (out, row, i) ->
                    out.append(((LocalDateTime) getter.get(row, i)).toInstant(ZoneOffset.UTC));
            case "ARRAY" -> {
                Text element = text(type.child(0));
                yield (out, row, i) -> append(out, row.getArray(i), element);
            }
            case "MAP", "MULTISET" -> {
                Text key = text(type.child(0));
                Text value = text(type.root().equals("MAP") ? type.child(1) : COUNT);
                yield (out, row, i) -> append(out, row.getMap(i), key, value);
            }
            case "ROW" -> {
                RowText inner = new RowText(type);
                int width = type.size();
                yield (out, row, i) -> inner.append(out.append("+I"), row.getStruct(i, width));
            }
            case "BINARY", "VARBINARY" -> (out, row, i) -> out.append(Arrays.toString(row.getBinary(i)));
            default -> (out, row, i) -> out.append(getter.get(row, i));
        };
    }

    private static void append(StringBuilder text, ArrayData values, Text element) {
        text.append('[');
        for (int i = 0; i < values.numElements(); i++) {
            element.append(i == 0 ? text : text.append(", "), values, i);
        }
        text.append(']');
    }

    private static void append(StringBuilder text, MapData map, Text key, Text value) {
        text.append('{');
        for (int i = 0; i < map.numElements(); i++) {
            key.append(i == 0 ? text : text.append(", "), map.keyArray(), i);
            value.append(text.append('='), map.valueArray(), i);
        }
        text.append('}');
    }
}

package flinkplan.runtime.format;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.Locale;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/** The format {@code json} and the formats that describe changes in JSON. */
final class JsonEncoder implements Encoder {

    private interface Writer extends Serializable {
        void write(JsonGenerator json, Object value) throws IOException;
    }

    private final String format;
    private final Writer row;
    private final boolean plainDecimals;
    private final boolean ignoreNulls;
    private final boolean iso;
    private final String nullKeys;
    private final String nullKey;

    JsonEncoder(String format, FlinkType type, FormatOptions options) {
        this.format = format;
        plainDecimals = options.is("encode.decimal-as-plain-number");
        ignoreNulls = options.is("encode.ignore-null-fields");
        iso = options.iso();
        nullKeys = options.get("map-null-key.mode", "FAIL").toUpperCase(Locale.ROOT);
        nullKey = options.get("map-null-key.literal", "null");
        row = writer(type);
    }

    @Override
    public void encode(byte kind, InternalRow values, OutputStream out) throws IOException {
        boolean retract = kind == Decoder.UPDATE_BEFORE || kind == Decoder.DELETE;
        try (JsonGenerator json = JsonDecoder.FACTORY.createGenerator(out)) {
            json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
            if (plainDecimals) {
                json.enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN);
            }
            switch (format) {
                case "debezium-json" -> images(json, values, retract, "op", "c", "d");
                case "ogg-json" -> images(json, values, retract, "op_type", "I", "D");
                case "canal-json" -> {
                    json.writeStartObject();
                    json.writeArrayFieldStart("data");
                    row.write(json, values);
                    json.writeEndArray();
                    json.writeStringField("type", retract ? "DELETE" : "INSERT");
                    json.writeEndObject();
                }
                case "maxwell-json" -> {
                    json.writeStartObject();
                    json.writeFieldName("data");
                    row.write(json, values);
                    json.writeStringField("type", retract ? "delete" : "insert");
                    json.writeEndObject();
                }
                default -> row.write(json, values);
            }
        }
        out.write('\n');
    }

    private void images(
            JsonGenerator json, InternalRow values, boolean retract, String key, String insert, String delete)
            throws IOException {
        json.writeStartObject();
        image(json, "before", retract ? values : null);
        image(json, "after", retract ? null : values);
        json.writeStringField(key, retract ? delete : insert);
        json.writeEndObject();
    }

    private void image(JsonGenerator json, String name, InternalRow values) throws IOException {
        if (values != null) {
            json.writeFieldName(name);
            row.write(json, values);
        } else if (!ignoreNulls) {
            json.writeNullField(name);
        }
    }

    private Writer writer(FlinkType type) {
        boolean plain = plainDecimals;
        return switch (type.root()) {
            case "BOOLEAN" -> (json, value) -> json.writeBoolean((boolean) value);
            case "FLOAT" -> (json, value) -> json.writeNumber((float) value);
            case "DOUBLE" -> (json, value) -> json.writeNumber((double) value);
            case "DECIMAL" -> (json, value) ->
                    json.writeNumber(plain ? (BigDecimal) value : shortest((BigDecimal) value));
            case "CHAR", "VARCHAR" -> (json, value) -> json.writeString((String) value);
            case "BINARY", "VARBINARY" -> (json, value) -> json.writeBinary((byte[]) value);
            case "DATE" -> (json, value) -> json.writeString(Times.formatDate((int) value));
            case "TIME" -> (json, value) -> json.writeString(Times.formatTime((int) value));
            case "TIMESTAMP" -> (json, value) ->
                    json.writeString(Times.formatTimestamp((LocalDateTime) value, iso, false));
            case "TIMESTAMP_LTZ" -> (json, value) -> json.writeString(
                    Times.formatTimestamp((LocalDateTime) value, iso, true));
            case "ARRAY" -> arrayWriter(type);
            case "MAP" -> mapWriter(type.child(0), type.child(1));
            case "MULTISET" -> mapWriter(type.child(0), COUNT);
            case "ROW" -> rowWriter(type);
            default -> (json, value) -> json.writeNumber(((Number) value).longValue());
        };
    }

    private static final FlinkType COUNT =
            new FlinkType("INT", 0, 0, 0, java.util.List.of(), java.util.List.of(), true, false);

    /** Decimals lose their trailing zeros: 20.00 is 2E+1, and zero is 0. */
    static BigDecimal shortest(BigDecimal value) {
        return value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
    }

    private Writer rowWriter(FlinkType type) {
        Values.Getter[] getters = Values.getters(type.children()).toArray(Values.Getter[]::new);
        Writer[] writers = type.children().stream().map(this::writer).toArray(Writer[]::new);
        String[] names = type.names().toArray(String[]::new);
        boolean ignoreNulls = this.ignoreNulls;
        return (json, value) -> {
            SpecializedGetters row = (SpecializedGetters) value;
            json.writeStartObject();
            for (int i = 0; i < names.length; i++) {
                if (!row.isNullAt(i)) {
                    json.writeFieldName(names[i]);
                    writers[i].write(json, getters[i].get(row, i));
                } else if (!ignoreNulls) {
                    json.writeNullField(names[i]);
                }
            }
            json.writeEndObject();
        };
    }

    private Writer arrayWriter(FlinkType type) {
        Values.Getter getter = Values.getter(type.child(0));
        Writer element = writer(type.child(0));
        return (json, value) -> {
            ArrayData array = (ArrayData) value;
            json.writeStartArray();
            for (int i = 0; i < array.numElements(); i++) {
                if (array.isNullAt(i)) {
                    json.writeNull();
                } else {
                    element.write(json, getter.get(array, i));
                }
            }
            json.writeEndArray();
        };
    }

    private Writer mapWriter(FlinkType keyType, FlinkType valueType) {
        if (!keyType.root().equals("CHAR") && !keyType.root().equals("VARCHAR")) {
            throw new IllegalArgumentException("JSON format doesn't support non-string as key type of map.");
        }
        Values.Getter getter = Values.getter(valueType);
        Writer writer = writer(valueType);
        String nullKeys = this.nullKeys;
        String nullKey = this.nullKey;
        return (json, value) -> {
            MapData map = (MapData) value;
            json.writeStartObject();
            for (int i = 0; i < map.numElements(); i++) {
                boolean isNull = map.keyArray().isNullAt(i);
                if (isNull && nullKeys.equals("DROP")) {
                    continue;
                }
                json.writeFieldName(isNull ? nullKey(nullKeys, nullKey) : map.keyArray().getUTF8String(i).toString());
                if (map.valueArray().isNullAt(i)) {
                    json.writeNull();
                } else {
                    writer.write(json, getter.get(map.valueArray(), i));
                }
            }
            json.writeEndObject();
        };
    }

    private static String nullKey(String mode, String literal) {
        if (mode.equals("FAIL")) {
            throw new IllegalArgumentException(
                    "JSON format doesn't support to serialize map data with null keys. "
                            + "You can drop null key entries or "
                            + "encode null in literals by specifying map-null-key.mode option.");
        }
        return literal;
    }
}

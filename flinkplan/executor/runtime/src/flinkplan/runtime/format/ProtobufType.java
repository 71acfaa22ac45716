package flinkplan.runtime.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A message of Protocol Buffers, as far as columns have it.
 *
 * @param fields those of columns, in the order of these
 * @param required the numbers of fields without which there is no message
 * @param oneofs the group of each field of which only the last one that is set counts, by its number
 * @param isProto3 whether fields without a value have their default, and texts are checked
 */
record ProtobufType(List<Field> fields, Set<Integer> required, Map<Integer, Integer> oneofs, boolean isProto3)
        implements Serializable {

    /**
     * A field.
     *
     * @param kind the name of its type in a {@code .proto} file, {@code enum} or {@code message}
     * @param isSimple whether it is neither repeated nor a message
     * @param message the message that it holds, that of the entries of a map, or null
     * @param names the first name of each number of an enumeration
     * @param numbers the numbers of an enumeration by all their names
     * @param fallback what is read where there is no value: a text, or null where it is 0, false or empty
     */
    record Field(
            int number,
            String name,
            String kind,
            boolean isRepeated,
            boolean isMap,
            boolean isPacked,
            boolean hasPresence,
            boolean isSimple,
            ProtobufType message,
            Map<Integer, String> names,
            Map<String, Integer> numbers,
            int firstName,
            String fallback,
            FlinkType type)
            implements Serializable {}

    /** Reads a description that {@code formats/protobuf.py} makes, of the columns of a row. */
    static ProtobufType parse(JsonNode json, List<FlinkType> types) {
        List<Field> fields = new ArrayList<>();
        for (JsonNode field : json.get("fields")) {
            fields.add(field(field, types.get(fields.size())));
        }
        Set<Integer> required = new HashSet<>();
        json.get("required").forEach(number -> required.add(number.asInt()));
        Map<Integer, Integer> oneofs = new HashMap<>();
        json.get("oneofs").properties().forEach(e -> oneofs.put(Integer.valueOf(e.getKey()), e.getValue().asInt()));
        return new ProtobufType(fields, required, oneofs, json.get("proto3").asBoolean());
    }

    private static Field field(JsonNode json, FlinkType type) {
        boolean isRepeated = json.get("repeated").asBoolean();
        boolean isMap = json.get("map").asBoolean();
        FlinkType element = isRepeated && !isMap ? type.child(0) : type;
        ProtobufType message =
                json.get("message").isNull() ? null : parse(json.get("message"), element.children());
        Map<Integer, String> names = new HashMap<>();
        Map<String, Integer> numbers = new HashMap<>();
        int first = 0;
        for (JsonNode name : json.get("names")) {
            if (names.isEmpty()) {
                first = name.get(0).asInt();
            }
            names.putIfAbsent(name.get(0).asInt(), name.get(1).asText());
            numbers.put(name.get(1).asText(), name.get(0).asInt());
        }
        return new Field(
                json.get("number").asInt(),
                json.get("name").asText(),
                json.get("kind").asText(),
                isRepeated,
                isMap,
                json.get("packed").asBoolean(),
                json.get("presence").asBoolean(),
                !isRepeated && message == null,
                message,
                names,
                numbers,
                first,
                json.get("default").textValue(),
                element);
    }
}

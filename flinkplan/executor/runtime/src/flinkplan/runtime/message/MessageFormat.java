package flinkplan.runtime.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.format.Decoders;
import flinkplan.runtime.format.Encoder;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.FormatOptions;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How the key or the value of messages is written.
 *
 * @param type the row of all the fields that it holds
 * @param projection the indexes of those that are wanted, in order
 */
record MessageFormat(String name, FormatOptions options, FlinkType type, List<Integer> projection)
        implements Serializable {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    static JsonNode json(String spec) throws JsonProcessingException {
        return MAPPER.readTree(spec);
    }

    /** Reads {@code {"format", "options", "type", "projection"}}. */
    static MessageFormat of(JsonNode json) {
        Map<String, String> options = new HashMap<>();
        json.get("options").properties().forEach(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        return new MessageFormat(
                json.get("format").asText(),
                new FormatOptions(options),
                FlinkType.parse(json.get("type")),
                integers(json.path("projection")));
    }

    static List<Integer> integers(JsonNode json) {
        List<Integer> integers = new ArrayList<>();
        json.forEach(value -> integers.add(value.asInt()));
        return integers;
    }

    Decoder decoder() {
        return Decoders.of(name, type, projection, options);
    }

    Encoder encoder() {
        return Encoder.of(name, type, options);
    }

    /** Whether a message without content is a row all the same, whose one column is NULL. */
    boolean hasNull() {
        return name.equals("raw");
    }
}

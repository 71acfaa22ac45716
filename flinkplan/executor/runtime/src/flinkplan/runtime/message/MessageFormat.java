package flinkplan.runtime.message;

import static flinkplan.runtime.catalyst.Sequences.asScala;

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
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;

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
        List<Integer> found = new ArrayList<>();
        json.forEach(value -> found.add(value.asInt()));
        return found;
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

    /** The column that a method of an object computes of others; each task has its own object. */
    static Column call(Object target, String method, DataType result, List<Column> arguments, List<DataType> types) {
        List<Expression> expressions =
                arguments.stream().map(ExpressionUtils::expression).toList();
        List<AbstractDataType> inputs = List.copyOf(types);
        return ExpressionUtils.column(
                new Invoke(
                        new Literal(target, new ObjectType(target.getClass())),
                        method,
                        result,
                        asScala(expressions),
                        asScala(inputs),
                        false,
                        true,
                        true));
    }
}

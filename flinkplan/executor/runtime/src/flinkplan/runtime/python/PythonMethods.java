package flinkplan.runtime.python;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.function.BiFunction;

/** The methods of an object of the driver's Python, which is equal to itself alone. */
public final class PythonMethods {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final BiFunction<String, String, String> python;

    public PythonMethods(BiFunction<String, String, String> python) {
        this.python = python;
    }

    /**
     * What a method says to its arguments, all of them texts of JSON.
     *
     * <p>Python's answer is an object: {@code answer}, or {@code error}, why there is none.
     */
    public String ask(String method, String... arguments) {
        JsonNode response = parse(python.apply(method, "[" + String.join(",", arguments) + "]"));
        if (response.has("error")) {
            throw new IllegalStateException(response.get("error").asText());
        }
        return response.get("answer").toString();
    }

    private static JsonNode parse(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}

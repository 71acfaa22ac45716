package flinkplan.runtime.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.BiFunction;

/** Who answers for the positions of a stream: an object of the driver's Python, equal to itself alone. */
final class Positions {
    private final BiFunction<String, String, String> python;

    Positions(BiFunction<String, String, String> python) {
        this.python = python;
    }

    /**
     * What a method says to its arguments, all of them texts of JSON.
     *
     * <p>Python's answer is an object: {@code answer}, or {@code error}, why there is none.
     */
    String ask(String method, String... arguments) {
        JsonNode response = RangeSource.parse(python.apply(method, "[" + String.join(",", arguments) + "]"));
        if (response.has("error")) {
            throw new IllegalStateException(response.get("error").asText());
        }
        return response.get("answer").toString();
    }
}

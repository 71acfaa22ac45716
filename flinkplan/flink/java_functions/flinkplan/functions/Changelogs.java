package flinkplan.functions;

import java.util.Optional;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.types.RowKind;

/** The changelog modes of process table functions that emit updates. */
final class Changelogs {
    private Changelogs() {}

    /**
     * The mode that a function says.
     *
     * @param question {@code class}; {@code inputs}: for each argument the kinds of its rows, null where it is no table;
     *     {@code required}: the kinds that what reads the function takes
     * @return {@code kinds} as plans name them, or {@code error}
     */
    static ObjectNode answer(Loaded loaded, JsonNode question) {
        ObjectNode answer = new ObjectMapper().createObjectNode();
        try {
            ChangelogFunction function = (ChangelogFunction) loaded.function(question.get("class").asText());
            ChangelogMode mode = function.getChangelogMode(new ChangelogFunction.ChangelogContext() {
                @Override
                public ChangelogMode getTableChangelogMode(int position) {
                    return Optional.of(question.get("inputs").path(position))
                            .filter(JsonNode::isArray)
                            .map(TableArgument::mode)
                            .orElse(null);
                }

                @Override
                public ChangelogMode getRequiredChangelogMode() {
                    return TableArgument.mode(question.get("required"));
                }
            });
            ArrayNode kinds = answer.putArray("kinds");
            for (RowKind kind : RowKind.values()) {
                if (mode.contains(kind)) {
                    kinds.add((kind == RowKind.DELETE && mode.keyOnlyDeletes() ? "~" : "") + kind.name());
                }
            }
        } catch (Throwable e) { // also what the function's own code raises
            answer.put("error", Signatures.message(e));
        }
        return answer;
    }
}

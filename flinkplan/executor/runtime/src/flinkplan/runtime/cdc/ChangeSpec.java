package flinkplan.runtime.cdc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.format.FlinkType;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is made of changes.
 *
 * @param row the physical columns of the table
 * @param wanted the indexes of those that rows have, in order
 * @param metadata the keys of the metadata columns behind them
 * @param key the indexes of the columns of the primary key
 * @param mode which rows a change is
 * @param database the name of the database; empty where it is the table's schema
 */
record ChangeSpec(
        FlinkType row, List<Integer> wanted, List<String> metadata, List<Integer> key, Mode mode, String database)
        implements Serializable {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    enum Mode {
        /** Updates have their old rows. */
        ALL,
        /** Updates are their new rows, and deletions have the key alone. */
        UPSERT,
        /** All rows of {@link #ALL} are inserted. */
        APPEND
    }

    static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A text as JSON. */
    static String quoted(String text) {
        return MAPPER.getNodeFactory().textNode(text).toString();
    }

    /** Reads {@code {"row", "wanted", "metadata", "key", "mode", "database"}}. */
    static ChangeSpec of(String text) {
        JsonNode json = json(text);
        List<String> metadata = new ArrayList<>();
        json.get("metadata").forEach(key -> metadata.add(key.asText()));
        return new ChangeSpec(
                FlinkType.parse(json.get("row")),
                integers(json.get("wanted")),
                metadata,
                integers(json.get("key")),
                Mode.valueOf(json.get("mode").asText()),
                json.get("database").asText());
    }

    private static List<Integer> integers(JsonNode json) {
        List<Integer> integers = new ArrayList<>();
        json.forEach(value -> integers.add(value.asInt()));
        return integers;
    }
}

package flinkplan.runtime.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** The formats that describe changes in JSON: debezium-json, canal-json, maxwell-json and ogg-json. */
final class ChangelogJsonDecoder implements Decoder {

    private enum Dialect {
        DEBEZIUM,
        CANAL,
        MAXWELL,
        OGG
    }

    private final Dialect dialect;
    private final String name;
    private final JsonValues.Fields fields;
    private final FlinkType type;
    private final ObjectMapper mapper;
    private final boolean ignoreErrors;
    private final boolean schemaIncluded;
    private final String database;
    private final String table;

    /** @param mapper what makes trees of messages */
    ChangelogJsonDecoder(String name, FlinkType type, ObjectMapper mapper, FormatOptions options) {
        this.dialect = Dialect.valueOf(name.substring(0, name.indexOf('-')).toUpperCase());
        this.name = Character.toUpperCase(name.charAt(0)) + name.substring(1, name.indexOf('-'));
        this.type = type;
        this.mapper = mapper;
        this.ignoreErrors = options.is("ignore-parse-errors");
        this.schemaIncluded = options.is("schema-include");
        this.database = options.get("database.include", null);
        this.table = options.get("table.include", null);
        this.fields = new JsonValues(false, ignoreErrors, options.iso()).fields(type);
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        if (from == to) {
            return;
        }
        try {
            JsonNode message = mapper.readTree(buffer, from, to - from);
            switch (dialect) {
                case DEBEZIUM -> debezium(schemaIncluded ? message.get("payload") : message, rows);
                case CANAL -> canal(message, rows);
                case MAXWELL -> maxwell(message, rows);
                case OGG -> ogg(message, rows);
            }
        } catch (RuntimeException | IOException e) {
            if (!ignoreErrors) {
                String text = new String(buffer, from, to - from, StandardCharsets.UTF_8);
                throw new IOException("Corrupt " + name + " JSON message '" + text + "'.", e);
            }
        }
    }

    private void debezium(JsonNode message, Rows rows) throws IOException {
        JsonNode before = message.path("before");
        JsonNode after = message.path("after");
        switch (message.path("op").asText()) {
            case "c", "r" -> rows.add(INSERT, image(after));
            case "u" -> {
                Object[] old = image(before);
                rows.add(UPDATE_BEFORE, old);
                rows.add(UPDATE_AFTER, image(after));
            }
            case "d" -> rows.add(DELETE, image(before));
            default -> throw unknown("op", message);
        }
    }

    private void ogg(JsonNode message, Rows rows) throws IOException {
        JsonNode before = message.path("before");
        JsonNode after = message.path("after");
        switch (message.path("op_type").asText().trim()) {
            case "I" -> rows.add(INSERT, image(after));
            case "U" -> {
                Object[] old = image(before);
                rows.add(UPDATE_BEFORE, old);
                rows.add(UPDATE_AFTER, image(after));
            }
            case "D" -> rows.add(DELETE, image(before));
            default -> throw unknown("op_type", message);
        }
    }

    private void canal(JsonNode message, Rows rows) throws IOException {
        if (!included(database, message.path("database")) || !included(table, message.path("table"))) {
            return;
        }
        JsonNode data = message.path("data");
        switch (message.path("type").asText()) {
            case "INSERT" -> {
                for (JsonNode row : data) {
                    rows.add(INSERT, image(row));
                }
            }
            case "UPDATE" -> {
                Iterator<JsonNode> old = message.path("old").elements();
                for (JsonNode row : data) {
                    update(row, old.hasNext() ? old.next() : NullNode.instance, rows);
                }
            }
            case "DELETE" -> {
                for (JsonNode row : data) {
                    rows.add(DELETE, image(row));
                }
            }
            case "CREATE" -> {}
            default -> throw unknown("type", message);
        }
    }

    private void maxwell(JsonNode message, Rows rows) throws IOException {
        JsonNode data = message.path("data");
        switch (message.path("type").asText()) {
            case "insert" -> rows.add(INSERT, image(data));
            case "update" -> update(data, message.path("old"), rows);
            case "delete" -> rows.add(DELETE, image(data));
            default -> throw unknown("type", message);
        }
    }

    /** An update whose old image holds only the fields that changed. */
    private void update(JsonNode row, JsonNode changed, Rows rows) throws IOException {
        Object[] after = image(row);
        Object[] before = changed.isObject() ? image(changed) : after.clone();
        for (int i = 0; i < before.length; i++) {
            if (!changed.has(type.names().get(i))) {
                before[i] = after[i];
            }
        }
        rows.add(UPDATE_BEFORE, before);
        rows.add(UPDATE_AFTER, after);
    }

    private Object[] image(JsonNode row) throws IOException {
        if (!row.isObject()) {
            throw new IOException(
                    "The row image is missing; if the table is of PostgreSQL, set its REPLICA IDENTITY to FULL.");
        }
        try (JsonParser parser = row.traverse(mapper)) {
            parser.nextToken();
            return fields.read(parser);
        }
    }

    private static boolean included(String pattern, JsonNode value) {
        return pattern == null || value.asText().matches(pattern);
    }

    private IOException unknown(String field, JsonNode message) {
        return new IOException("Unknown \"" + field + "\" value \"" + message.path(field).asText() + "\".");
    }
}

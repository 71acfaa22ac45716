package flinkplan.runtime.format;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/** The format {@code json}: a line is an object or an array of objects, an object a row. */
final class JsonDecoder implements Decoder {
    private final JsonValues.Fields fields;
    private final boolean ignoreErrors;
    private final boolean byTrees;
    private final ObjectMapper mapper;

    JsonDecoder(FlinkType type, FormatOptions options) {
        ignoreErrors = options.is("ignore-parse-errors");
        byTrees = options.get("decode.json-parser.enabled", "true").equalsIgnoreCase("false");
        mapper = mapper(type);
        fields = new JsonValues(options.is("fail-on-missing-field"), ignoreErrors, options.iso()).fields(type);
    }

    static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS).build();
    static final JsonFactory FACTORY = MAPPER.getFactory();
    private static final ObjectMapper EXACT =
            MAPPER.copy().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    /** What makes trees of messages: numbers in them are exact where {@code type} has decimals. */
    static ObjectMapper mapper(FlinkType type) {
        return hasDecimals(type) ? EXACT : MAPPER;
    }

    private static boolean hasDecimals(FlinkType type) {
        return type.root().equals("DECIMAL") || type.children().stream().anyMatch(JsonDecoder::hasDecimals);
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        if (from == to) {
            return;
        }
        try (JsonParser parser = parser(buffer, from, to - from)) {
            if (parser.nextToken() != JsonToken.START_ARRAY) {
                rows.add(INSERT, fields.read(parser));
                return;
            }
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                rows.add(INSERT, fields.read(parser));
            }
        } catch (RuntimeException | IOException e) {
            if (ignoreErrors) {
                return;
            }
            throw new IOException("Failed to deserialize JSON '" + Utf8.shown(buffer, from, to) + "'.", e);
        }
    }

    private JsonParser parser(byte[] buffer, int from, int length) throws IOException {
        return byTrees
                ? mapper.readTree(buffer, from, length).traverse(mapper)
                : mapper.createParser(buffer, from, length);
    }
}

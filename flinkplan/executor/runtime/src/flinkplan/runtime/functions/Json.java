package flinkplan.runtime.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The JSON functions.
 *
 * <p>A path in strict mode, the default, fails where it finds nothing or null; in lax mode the result is
 * empty. What then comes out (ON EMPTY, ON ERROR) is decided outside, by the outcome beside the result.
 * Objects are written with their keys in order.
 */
public final class Json {
    private static final int FOUND = 0;
    private static final int EMPTY = 1;
    private static final int ERROR = 2;

    private static final ObjectMapper MAPPER =
            new ObjectMapper()
                    .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)
                    .configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, true);
    private static final Pattern MODE =
            Pattern.compile("\\s*(strict|lax)\\s+(.+)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    private static final ThreadLocal<Map<String, JsonPath>> PATHS = ThreadLocal.withInitial(Recent::new);

    private Json() {}

    // ------------------------------------------------------------------ paths

    /** The scalar at a path as (outcome, text); any other value, or one that is no {@code type}, is an error. */
    public static InternalRow value(UTF8String json, UTF8String path, UTF8String type) {
        Found found = find(json, path);
        if (found.outcome != FOUND) {
            return result(found.outcome, null);
        }
        if (!isScalar(found.value)) {
            return result(found.lax ? EMPTY : ERROR, null);
        }
        boolean fits =
                switch (type.toString()) {
                    case "BOOLEAN" -> found.value instanceof Boolean;
                    case "INT" -> found.value instanceof Integer;
                    case "DOUBLE" -> found.value instanceof Number;
                    default -> true;
                };
        return fits ? result(FOUND, UTF8String.fromString(found.value.toString())) : result(ERROR, null);
    }

    /** The object or array at a path as (outcome, JSON text). */
    public static InternalRow query(UTF8String json, UTF8String path, UTF8String wrapper) {
        Found found = container(json, path, wrapper);
        return result(found.outcome, found.outcome == FOUND ? write(found.value) : null);
    }

    /** The array at a path as (outcome, its elements as texts); an object is an error. */
    public static InternalRow queryArray(UTF8String json, UTF8String path, UTF8String wrapper) {
        Found found = container(json, path, wrapper);
        if (found.outcome != FOUND || !(found.value instanceof List<?> list)) {
            return result(found.outcome == FOUND ? ERROR : found.outcome, null);
        }
        return result(FOUND, new GenericArrayData(list.stream().map(Json::elementText).toArray()));
    }

    /** Whether a path finds something; null where it fails. */
    public static Boolean exists(UTF8String json, UTF8String path) {
        Found found = find(json, path);
        return found.outcome == ERROR ? null : Boolean.valueOf(found.outcome == FOUND);
    }

    private record Found(int outcome, Object value, boolean lax) {}

    private static Found find(UTF8String json, UTF8String path) {
        Matcher m = MODE.matcher(path.toString());
        boolean lax = m.matches() && m.group(1).equalsIgnoreCase("lax");
        String spec = m.matches() ? m.group(2) : path.toString();
        try {
            Object document = parse(json);
            if (document == null) {
                return new Found(ERROR, null, lax);
            }
            JsonPath compiled = PATHS.get().computeIfAbsent(spec, JsonPath::of);
            Object value = lax ? compiled.readIfThere(document) : compiled.read(document);
            return new Found(value != null ? FOUND : lax ? EMPTY : ERROR, value, lax);
        } catch (JsonProcessingException | NoSuchElementException | IllegalArgumentException e) {
            return new Found(lax ? EMPTY : ERROR, null, lax);
        }
    }

    private static Found container(UTF8String json, UTF8String path, UTF8String wrapper) {
        Found found = find(json, path);
        if (found.outcome != FOUND) {
            return found;
        }
        boolean wrap =
                switch (wrapper.toString()) {
                    case "WITHOUT_ARRAY" -> false;
                    case "CONDITIONAL_ARRAY", "WITH_CONDITIONAL_ARRAY" -> !(found.value instanceof Collection);
                    default -> true;
                };
        Object value = wrap ? Collections.singletonList(found.value) : found.value;
        return new Found(isScalar(value) ? found.lax ? EMPTY : ERROR : FOUND, value, found.lax);
    }

    // ------------------------------------------------------------------ predicates and texts

    public static boolean isValue(UTF8String text) {
        try {
            parse(text);
            return true;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    public static boolean isScalar(UTF8String text) {
        try {
            return isScalar(parse(text));
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    public static boolean isArray(UTF8String text) {
        try {
            return parse(text) instanceof Collection;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    public static boolean isObject(UTF8String text) {
        try {
            return parse(text) instanceof Map;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    /** A text as a JSON string. */
    public static UTF8String string(UTF8String text) {
        return write(text.toString());
    }

    /** A number as JSON: all its digits, with an exponent where a BigDecimal has one. */
    public static UTF8String ofDecimal(Decimal value) {
        return UTF8String.fromString(value.toJavaBigDecimal().toString());
    }

    /** The number of the shortest digits that denote a double. */
    public static UTF8String ofDouble(double value) {
        return approximate(Double.toString(value), Double.isFinite(value));
    }

    /** The number of the shortest digits that denote a float. */
    public static UTF8String ofFloat(float value) {
        return approximate(Float.toString(value), Float.isFinite(value));
    }

    private static UTF8String approximate(String digits, boolean finite) {
        return UTF8String.fromString(finite ? new BigDecimal(digits).toString() : '"' + digits + '"');
    }

    /** JSON in its compact form; null for a blank text; fails for what is no JSON. */
    public static UTF8String normalize(UTF8String text) throws JsonProcessingException {
        return text.trim().numBytes() == 0 ? null : write(parse(text));
    }

    /** A text as a JSON string of ASCII characters, slashes escaped. */
    public static UTF8String quote(UTF8String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toString().toCharArray()) {
            switch (c) {
                case '"', '\\', '/' -> out.append('\\').append(c);
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> out.append(c >= ' ' && c < 127 ? String.valueOf(c) : String.format("\\u%04x", (int) c));
            }
        }
        return UTF8String.fromString(out.append('"').toString());
    }

    /** The text of a JSON string; any other text as it is. */
    public static UTF8String unquote(UTF8String text) {
        try {
            boolean isQuoted = text.toString().startsWith("\"");
            return isQuoted && parse(text) instanceof String s ? UTF8String.fromString(s) : text;
        } catch (JsonProcessingException e) {
            return text;
        }
    }

    private static boolean isScalar(Object value) {
        return !(value instanceof Map) && !(value instanceof Collection);
    }

    private static UTF8String elementText(Object value) {
        if (value == null) {
            return null;
        }
        return isScalar(value) ? UTF8String.fromString(value.toString()) : write(value);
    }

    private static Object parse(UTF8String text) throws JsonProcessingException {
        return MAPPER.readValue(text.toString(), Object.class);
    }

    private static UTF8String write(Object value) {
        try {
            return UTF8String.fromString(MAPPER.writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static InternalRow result(int outcome, Object value) {
        return new GenericInternalRow(new Object[] {outcome, value});
    }
}

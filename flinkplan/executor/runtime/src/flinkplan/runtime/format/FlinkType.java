package flinkplan.runtime.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * A logical type of Flink, as far as formats need it.
 *
 * <p>{@code children} are the element of an ARRAY or MULTISET, key and value of a MAP, or the fields of a ROW,
 * whose names are {@code names}; {@code isRequired}: there is always a value; {@code isUnread}: nobody looks at the
 * value, so that there may be none.
 */
public record FlinkType(
        String root,
        int length,
        int precision,
        int scale,
        List<FlinkType> children,
        List<String> names,
        boolean isRequired,
        boolean isUnread)
        implements Serializable {

    /** Reads {@code {"root", "length", "precision", "scale", "children": […], "names": […], "required", "unread"}}. */
    public static FlinkType parse(JsonNode json) {
        List<FlinkType> children = new ArrayList<>();
        json.path("children").forEach(child -> children.add(parse(child)));
        List<String> names = new ArrayList<>();
        json.path("names").forEach(name -> names.add(name.asText()));
        return new FlinkType(
                json.path("root").asText(),
                json.path("length").asInt(),
                json.path("precision").asInt(),
                json.path("scale").asInt(),
                children,
                names,
                json.path("required").asBoolean(),
                json.path("unread").asBoolean());
    }

    /** Whether values are timestamps finer than Spark's, held as a struct of microseconds and nanoseconds. */
    public boolean hasNanos() {
        return precision > 6 && (root.equals("TIMESTAMP") || root.equals("TIMESTAMP_LTZ"));
    }

    public FlinkType child(int index) {
        return children.get(index);
    }

    public int size() {
        return children.size();
    }
}

package flinkplan.runtime.format;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/** The options of a table's format, without the format's name in front. */
public final class FormatOptions implements Serializable {
    private final HashMap<String, String> values;

    public FormatOptions(Map<String, String> values) {
        this.values = new HashMap<>(values);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FormatOptions that && that.values.equals(values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    public String get(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }

    public boolean has(String key) {
        return values.containsKey(key);
    }

    public boolean is(String key) {
        return Boolean.parseBoolean(get(key, "false"));
    }

    /** Whether timestamps are written as in ISO-8601 rather than SQL. */
    public boolean iso() {
        return get("timestamp-format.standard", "SQL").equals("ISO-8601");
    }
}

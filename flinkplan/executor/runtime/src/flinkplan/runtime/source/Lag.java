package flinkplan.runtime.source;

import java.util.Map;

/** How a source reports how much of it is still to be read, as {@code progress.py} reads it: an entry of its metrics. */
public final class Lag {
    private Lag() {}

    /** The name of the entry: what is counted, and where. */
    public static String key(String unit, String place) {
        return "lag " + unit + " " + place;
    }

    /** The only entry of a source. */
    public static Map<String, String> of(String unit, String place, long lag) {
        return Map.of(key(unit, place), Long.toString(lag));
    }
}

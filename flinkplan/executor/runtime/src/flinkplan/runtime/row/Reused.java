package flinkplan.runtime.row;

import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Tables that an operator uses for one key after the other. A table that a large key has made wide takes as long to be
 * emptied behind each small one, so that it is given up.
 */
public final class Reused {
    private static final int SMALL = 64;

    private Reused() {}

    /** A map without entries: the same one, unless it is large. */
    public static <K, V> Map<K, V> emptied(Map<K, V> map, Supplier<Map<K, V>> other) {
        if (map.size() > SMALL) {
            return other.get();
        }
        map.clear();
        return map;
    }

    /** The same of a set. */
    public static <E> Set<E> emptied(Set<E> set, Supplier<Set<E>> other) {
        if (set.size() > SMALL) {
            return other.get();
        }
        set.clear();
        return set;
    }
}

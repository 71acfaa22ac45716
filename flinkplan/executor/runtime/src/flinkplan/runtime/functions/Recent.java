package flinkplan.runtime.functions;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that keeps the entries used last: compiled patterns, formatters and paths. */
final class Recent<K, V> extends LinkedHashMap<K, V> {
    private static final int SIZE = 64;

    Recent() {
        super(SIZE, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > SIZE;
    }
}

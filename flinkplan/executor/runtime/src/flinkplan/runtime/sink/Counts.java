package flinkplan.runtime.sink;

import java.util.LinkedHashMap;
import java.util.Map;

/** How many rows the last batches have written. */
final class Counts {
    private static final int KEPT = 1000;

    private final Map<Long, Long> rows = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
            return size() > KEPT;
        }
    };

    synchronized void add(long batch, long count) {
        rows.put(batch, count);
    }

    /** The count of a batch, which is forgotten; 0 where none is known. */
    synchronized long take(long batch) {
        Long count = rows.remove(batch);
        return count == null ? 0 : count;
    }
}

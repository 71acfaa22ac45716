package flinkplan.runtime.lookup;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.util.Clock;
import org.apache.spark.util.SystemClock;

/** The rows of the keys that were asked for of late. Source: Flink's {@code DefaultLookupCache}. */
public final class LookupCache {
    private static final int JOBS = 100, TASK_KEYS = 100_000;
    private static final Map<String, LookupCache> CACHES = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, LookupCache> eldest) {
            return size() > JOBS;
        }
    };

    /**
     * What is kept, and for how long; 0: without a limit.
     *
     * @param maxKeys how many keys
     * @param afterWrite for how many milliseconds after they were asked of the table
     * @param afterAccess for how many after they were last asked for
     * @param missing whether keys without rows are kept, too
     */
    public record Limits(long maxKeys, long afterWrite, long afterAccess, boolean missing) implements Serializable {

        /** Reads {@code {"maxKeys", "afterWrite", "afterAccess", "missing"}}. */
        public static Limits of(JsonNode json) {
            return new Limits(
                    json.get("maxKeys").asLong(),
                    json.get("afterWrite").asLong(),
                    json.get("afterAccess").asLong(),
                    json.get("missing").asBoolean());
        }
    }

    private static final class Entry {
        private final List<InternalRow> rows;
        private final long written;
        private long read;

        private Entry(List<InternalRow> rows, long now) {
            this.rows = rows;
            written = now;
            read = now;
        }
    }

    private final Limits limits;
    private final Clock clock;
    private final LinkedHashMap<Object, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

    public LookupCache(Limits limits, Clock clock) {
        this.limits = limits;
        this.clock = clock;
    }

    /** The cache of a task where the table has none: so a key is asked for once a batch, as of its one time. */
    static LookupCache ofTask() {
        return new LookupCache(new Limits(TASK_KEYS, 0, 0, true), new SystemClock());
    }

    /** The cache of a job's lookup, which its tasks in this JVM share from batch to batch. */
    static LookupCache shared(String name, Limits limits) {
        synchronized (CACHES) {
            return CACHES.computeIfAbsent(name, key -> new LookupCache(limits, new SystemClock()));
        }
    }

    /** The rows of a key; null where they have to be asked for. */
    public synchronized List<InternalRow> get(Object key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            return null;
        }
        long now = clock.getTimeMillis();
        if (isOver(entry.written, limits.afterWrite, now) || isOver(entry.read, limits.afterAccess, now)) {
            entries.remove(key);
            return null;
        }
        entry.read = now;
        return entry.rows;
    }

    private static boolean isOver(long since, long limit, long now) {
        return limit > 0 && now - since >= limit;
    }

    /** Keeps the rows of a key; what was not asked for the longest goes, if there is too much. */
    public synchronized void put(Object key, List<InternalRow> rows) {
        if (rows.isEmpty() && !limits.missing) {
            return;
        }
        entries.put(key, new Entry(rows, clock.getTimeMillis()));
        Iterator<Object> eldest = entries.keySet().iterator();
        while (limits.maxKeys > 0 && entries.size() > limits.maxKeys) {
            eldest.next();
            eldest.remove();
        }
    }
}

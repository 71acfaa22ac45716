package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.watermark.LateRows;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the last batches have written and dropped. */
public final class Counts {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int KEPT = 1000;

    private final Map<Integer, LateRows> late = new LinkedHashMap<>();
    private final Map<Integer, Long> before = new LinkedHashMap<>();
    private final Map<Long, String> batches = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
            return size() > KEPT;
        }
    };

    /** Has the rows counted that a node drops. */
    public synchronized void add(int node, LateRows rows) {
        late.put(node, rows);
    }

    /** Counts a batch that has ended: the rows written, and those read by the plan itself, not by that of a stream. */
    public synchronized void add(long batch, long rows, long read) {
        ObjectNode counts = MAPPER.createObjectNode().put("written", rows).put("read", read);
        ObjectNode dropped = counts.putObject("dropped");
        late.forEach((node, drops) -> {
            long total = drops.total();
            Long last = before.put(node, total);
            dropped.put(node.toString(), total - (last == null ? 0 : last));
        });
        batches.put(batch, counts.toString());
    }

    /**
     * {@code {"written": rows, "read": rows, "dropped": {node: rows}}} of a batch, which is forgotten; null where none
     * is known.
     */
    public synchronized String take(long batch) {
        return batches.remove(batch);
    }
}

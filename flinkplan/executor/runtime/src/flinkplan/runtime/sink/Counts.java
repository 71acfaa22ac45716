package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.progress.PlanCounts;
import flinkplan.runtime.watermark.LateRows;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.QueryExecution;

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
    public void add(long batch, long rows, long read) {
        put(batch, counts(rows, read));
    }

    /** The same, with what {@link PlanCounts#add} takes. */
    public void add(long batch, long rows, long read, Dataset<Row> frame, QueryExecution execution) {
        ObjectNode counts = counts(rows, read);
        PlanCounts.add(counts, frame, execution);
        put(batch, counts);
    }

    private static ObjectNode counts(long rows, long read) {
        return MAPPER.createObjectNode().put("written", rows).put("read", read);
    }

    private synchronized void put(long batch, ObjectNode counts) {
        ObjectNode dropped = counts.putObject("dropped");
        ObjectNode lateness = counts.putObject("lateness");
        late.forEach((node, drops) -> {
            long total = drops.total();
            Long last = before.put(node, total);
            dropped.put(node.toString(), total - (last == null ? 0 : last));
            if (drops.most() != LateRows.UNKNOWN) {
                lateness.put(node.toString(), drops.most());
            }
        });
        batches.put(batch, counts.toString());
    }

    /**
     * {@code {"written": rows, "read": rows, "dropped": {node: rows}, "lateness": {node: milliseconds}, …}} of a batch,
     * which is forgotten; null where none is known. The lateness is the most of all batches so far; the rest is what
     * {@link PlanCounts} adds.
     */
    public synchronized String take(long batch) {
        return batches.remove(batch);
    }
}

package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.math.Ordering;

/** MIN and MAX. Where rows are taken back, all values are counted, so that the next one is known. */
public final class Extreme extends Accumulator {
    private final int column;
    private final DataType type;
    private final boolean largest;
    private final boolean retracts;

    private transient Ordering<Object> ordering;
    private transient Multiset values;
    /** How many of the values are equal in their order; null until the extreme one was taken back. */
    private transient TreeMap<Object, Integer> sorted;

    private transient Object extreme;

    public Extreme(int column, DataType type, boolean largest, boolean retracts) {
        this.column = column;
        this.type = type;
        this.largest = largest;
        this.retracts = retracts;
    }

    @Override
    StructType schema() {
        return new StructType().add("value", type);
    }

    @Override
    boolean isSelfContained() {
        return !retracts;
    }

    @Override
    void open(States states, String name, long ttl) {
        ordering = TypeUtils.getInterpretedOrdering(type);
        values = retracts ? new Multiset(states, name, schema(), ttl) : null;
    }

    @Override
    void begin(boolean isNew) {
        if (retracts) {
            values.begin(isNew);
            sorted = null;
        }
    }

    @Override
    void reset() {
        extreme = null;
    }

    @Override
    void load(InternalRow saved) {
        extreme = saved.isNullAt(0) ? null : saved.get(0, type);
    }

    @Override
    InternalRow save() {
        return Rows.of(extreme);
    }

    @Override
    void add(InternalRow row) {
        if (!row.isNullAt(column)) {
            Object value = row.get(column, type);
            improve(value);
            if (retracts && values.add(Rows.of(value), 1) == 1 && sorted != null) {
                sorted.merge(InternalRow.copyValue(value), 1, Integer::sum);
            }
        }
    }

    @Override
    void retract(InternalRow row) {
        if (!row.isNullAt(column)) {
            Object value = row.get(column, type);
            long left = values.add(Rows.of(value), -1);
            if (left == 0 && sorted != null) {
                sorted.computeIfPresent(value, (same, count) -> count == 1 ? null : count - 1);
            }
            if (left <= 0 && extreme != null && ordering.equiv(value, extreme)) {
                extreme = next();
            }
        }
    }

    /** The extreme of all values that are left. */
    private Object next() {
        if (sorted == null) {
            sorted = new TreeMap<>(ordering);
            values.forEach((row, count) -> sorted.merge(row.get(0, type), 1, Integer::sum));
        }
        return sorted.isEmpty() ? null : largest ? sorted.lastKey() : sorted.firstKey();
    }

    @Override
    boolean merges() {
        return !retracts;
    }

    @Override
    void merge(InternalRow saved) {
        if (!saved.isNullAt(0)) {
            improve(saved.get(0, type));
        }
    }

    private void improve(Object value) {
        if (extreme == null || (largest ? ordering.gt(value, extreme) : ordering.lt(value, extreme))) {
            extreme = value;
        }
    }

    @Override
    Object value() {
        return extreme;
    }

    @Override
    void clear() {
        if (retracts) {
            values.clear();
            sorted = null;
        }
    }

    @Override
    void flush() {
        if (retracts) {
            values.flush();
        }
    }
}

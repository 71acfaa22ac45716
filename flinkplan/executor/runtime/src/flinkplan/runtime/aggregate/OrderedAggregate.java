package flinkplan.runtime.aggregate;

import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
import flinkplan.runtime.time.RowOrder;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates over the rows up to each row in an order that new rows may come anywhere into: the results of all rows
 * behind one that comes or goes are updated.
 *
 * <p>The input's columns are the key, then the row as one struct.
 */
public final class OrderedAggregate extends Kernel {
    private final StructType row;
    private final StructType results;
    private final int rowOrdinal;
    private final Aggregation aggregation;
    private final RowOrder order;
    private final boolean byRows;

    private transient ListState<InternalRow> state;
    private transient UnsafeProjection binary;
    private transient List<InternalRow> rows;
    private transient Map<InternalRow, InternalRow> before;

    /**
     * @param row the schema of the struct, on which {@code aggregation} works
     * @param results the schema of the aggregation's results
     * @param byRows whether rows that are equal in the order have results of their own (ROWS) or share them (RANGE)
     */
    public OrderedAggregate(
            StructType input,
            StructType row,
            StructType results,
            int rowOrdinal,
            Aggregation aggregation,
            RowOrder order,
            boolean byRows) {
        super(input, row.merge(results, true), true);
        this.row = row;
        this.results = results;
        this.rowOrdinal = rowOrdinal;
        this.aggregation = aggregation;
        this.order = order;
        this.byRows = byRows;
    }

    @Override
    protected void open() {
        state = listState("rows", row, 0);
        aggregation.open(null);
        binary = UnsafeProjection.create(results);
    }

    @Override
    protected void begin(InternalRow key) {
        rows = Rows.list(state.get());
        before = aggregate();
    }

    /** The results of each row. */
    private Map<InternalRow, InternalRow> aggregate() {
        List<InternalRow> sorted = new ArrayList<>(rows);
        sorted.sort(order);
        Map<InternalRow, InternalRow> found = new IdentityHashMap<>();
        aggregation.begin();
        for (int from = 0, to; from < sorted.size(); from = to) {
            to = from + 1;
            while (!byRows && to < sorted.size() && order.compare(sorted.get(from), sorted.get(to)) == 0) {
                to++;
            }
            List<InternalRow> tied = sorted.subList(from, to);
            tied.forEach(aggregation::add);
            InternalRow values = binary.apply(aggregation.values()).copy();
            tied.forEach(one -> found.put(one, values));
        }
        return found;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow changed = input.getStruct(rowOrdinal, row.length());
        if (RowKind.retracts(kind)) {
            rows.remove(changed);
        } else {
            rows.add(changed);
        }
    }

    @Override
    protected void finish() {
        Map<InternalRow, InternalRow> after = aggregate();
        before.forEach((one, values) -> {
            if (!after.containsKey(one)) {
                emit(RowKind.DELETE, new JoinedRow(one, values));
            }
        });
        for (InternalRow one : rows) {
            InternalRow old = before.get(one);
            InternalRow values = after.get(one);
            if (old == null) {
                emit(RowKind.INSERT, new JoinedRow(one, values));
            } else if (!old.equals(values)) {
                emit(RowKind.UPDATE_BEFORE, new JoinedRow(one, old));
                emit(RowKind.UPDATE_AFTER, new JoinedRow(one, values));
            }
        }
        if (rows.isEmpty()) {
            state.clear();
        } else {
            state.put(rows.toArray(InternalRow[]::new));
        }
    }
}

package flinkplan.runtime.aggregate;

import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates over the rows up to each row in an order that new rows may come anywhere into: the results of all rows
 * behind one that comes or goes are updated.
 *
 * <p>The input's columns are the key, then the row as one struct.
 */
public final class OrderedAggregate extends ChangelogKernel {
    private final Spec spec;
    private final int rowOrdinal;

    private transient boolean isOpenWithoutState;
    private transient ListState<InternalRow> state;
    private transient UnsafeProjection binary;
    private transient List<InternalRow> rows;
    /** The rows before the batch, in their order. */
    private transient List<InternalRow> ranked;

    private transient Map<InternalRow, InternalRow> before;
    /** The kinds of the rows that the batch has added. */
    private transient Map<InternalRow, Byte> added;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the struct, on which {@code aggregation} works
     * @param results the schema of the aggregation's results
     * @param byRows whether rows that are equal in the order have results of their own (ROWS) or share them (RANGE)
     */
    public record Spec(StructType row, StructType results, Aggregation aggregation, RowOrder rowOrder, boolean byRows)
            implements Serializable {}

    public OrderedAggregate(StructType input, Spec spec) {
        super(input, spec.row.merge(spec.results, true), true);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        state = listState("rows", spec.row(), 0);
        spec.aggregation().open(null);
        binary = UnsafeProjection.create(spec.results());
    }

    /**
     * The places of a key's rows in their order, each with what has been accumulated up to it.
     *
     * @param rows an array of the rows as they have come
     */
    public Column accumulatedRows(Column rows) {
        StructType one = new StructType()
                .add("place", DataTypes.IntegerType, false)
                .add("accumulators", spec.aggregation().schema(), false);
        return MethodCall.deterministic(
                this,
                "accumulated",
                DataTypes.createArrayType(one, false),
                false,
                List.of(rows),
                List.of(DataTypes.createArrayType(spec.row())));
    }

    /** What {@link #accumulatedRows} calls; the kernel has no states then. */
    public ArrayData accumulated(ArrayData array) {
        if (!isOpenWithoutState) {
            spec.aggregation().open(null);
            isOpenWithoutState = true;
        }
        rows = new ArrayList<>();
        Map<InternalRow, Integer> places = new IdentityHashMap<>();
        for (int place = 0; place < array.numElements(); place++) {
            InternalRow row = array.getStruct(place, spec.row().length()).copy();
            rows.add(row);
            places.put(row, place);
        }
        List<Object> accumulated = new ArrayList<>();
        spec.aggregation().begin();
        for (List<InternalRow> tied : ties(sorted())) {
            tied.forEach(spec.aggregation()::add);
            InternalRow accumulators = spec.aggregation().save().copy();
            tied.forEach(row -> accumulated.add(Rows.of(places.get(row), accumulators)));
        }
        return new GenericArrayData(accumulated.toArray());
    }

    /** The rows that share results, in their order. */
    private List<List<InternalRow>> ties(List<InternalRow> sorted) {
        List<List<InternalRow>> ties = new ArrayList<>();
        for (int from = 0, to; from < sorted.size(); from = to) {
            to = from + 1;
            while (!spec.byRows() && to < sorted.size() && areEqual(sorted.get(from), sorted.get(to))) {
                to++;
            }
            ties.add(sorted.subList(from, to));
        }
        return ties;
    }

    @Override
    protected void begin(InternalRow key) {
        rows = Rows.list(state.get());
        ranked = sorted();
        before = aggregate(ranked);
        added = new IdentityHashMap<>();
    }

    private List<InternalRow> sorted() {
        List<InternalRow> sorted = new ArrayList<>(rows);
        sorted.sort(spec.rowOrder());
        return sorted;
    }

    /** The results of each row. */
    private Map<InternalRow, InternalRow> aggregate(List<InternalRow> sorted) {
        Map<InternalRow, InternalRow> results = new IdentityHashMap<>();
        spec.aggregation().begin();
        for (List<InternalRow> tied : ties(sorted)) {
            tied.forEach(spec.aggregation()::add);
            InternalRow values = binary.apply(spec.aggregation().values()).copy();
            tied.forEach(one -> results.put(one, values));
        }
        return results;
    }

    private boolean areEqual(InternalRow one, InternalRow other) {
        return spec.rowOrder().compare(one, other) == 0;
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow changed = input.getStruct(rowOrdinal, spec.row().length());
        if (RowKind.retracts(kind)) {
            rows.remove(changed);
        } else {
            rows.add(changed);
            added.put(changed, kind);
        }
    }

    @Override
    protected void finish() {
        List<InternalRow> sorted = sorted();
        Map<InternalRow, InternalRow> after = aggregate(sorted);
        for (InternalRow one : ranked) {
            if (!after.containsKey(one)) {
                emit(RowKind.DELETE, new JoinedRow(one, before.get(one)));
            }
        }
        for (InternalRow one : sorted) { // as in Flink, what comes or goes before what is updated behind it
            InternalRow old = before.get(one);
            InternalRow values = after.get(one);
            if (old == null) {
                emit(added.get(one), new JoinedRow(one, values)); // as in Flink, of the kind with which it came
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

package flinkplan.runtime.changelog;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Upserts for a table whose primary key is not what the changelog's rows are known by.
 *
 * <p>All rows of a primary key are kept in the order they came; the last one is what the table shows. Input rows
 * are the primary key's columns, then the row as one struct.
 */
public final class UpsertMaterialize extends ChangelogKernel {
    private final Spec spec;
    private final int rowOrdinal;

    private transient ValueState<InternalRow> state;
    private transient KnownRows known;
    private transient boolean changed;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the rows
     * @param upsertKey the columns that the changelog's rows are known by, or null: all
     * @param ttl of a primary key's rows, in milliseconds; 0: never expires
     */
    public record Spec(StructType row, int[] upsertKey, long ttl) implements Serializable {}

    public UpsertMaterialize(StructType input, Spec spec) {
        super(input, spec.row, true);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        StructType stored = new StructType().add("rows", DataTypes.createArrayType(spec.row(), false));
        state = valueState("sinkMaterializeState", stored, spec.ttl());
        known = new KnownRows(spec.row(), spec.upsertKey());
    }

    @Override
    protected void begin(InternalRow key) {
        known.rows.clear();
        changed = false;
        InternalRow stored = state.get();
        if (stored != null) {
            for (Object kept : stored.getArray(0).toObjectArray(spec.row())) {
                known.rows.add((InternalRow) kept);
            }
        }
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, spec.row().length());
        if (RowKind.retracts(kind)) {
            remove(current);
        } else {
            add(current);
        }
    }

    private void add(InternalRow current) {
        emit(known.rows.isEmpty() ? RowKind.INSERT : RowKind.UPDATE_AFTER, current);
        known.add(current);
        changed = true;
    }

    private void remove(InternalRow current) {
        List<InternalRow> rows = known.rows;
        int index = known.find(current);
        if (index < 0) {
            return; // it has expired
        }
        boolean shown = index == rows.size() - 1;
        rows.remove(index);
        changed = true;
        if (rows.isEmpty()) {
            emit(RowKind.DELETE, current);
        } else if (shown) {
            emit(RowKind.UPDATE_AFTER, rows.get(rows.size() - 1));
        }
    }

    @Override
    protected void finish() {
        if (!changed) {
            return;
        }
        if (known.rows.isEmpty()) {
            state.clear();
        } else {
            state.update(Rows.of(new GenericArrayData(known.rows.toArray())));
        }
    }
}

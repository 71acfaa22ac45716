package flinkplan.runtime.changelog;

import flinkplan.runtime.Kernel;
import flinkplan.runtime.RowKind;
import flinkplan.runtime.Rows;
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
public final class UpsertMaterialize extends Kernel {
    private final StructType row;
    private final int rowOrdinal;
    private final int[] upsertKey;
    private final long ttl;

    private transient ValueState<InternalRow> state;
    private transient KnownRows known;
    private transient boolean changed;

    /** @param upsertKey the columns that the changelog's rows are known by, or null: all */
    public UpsertMaterialize(StructType input, StructType row, int[] upsertKey, long ttl) {
        super(input, row, true);
        this.row = row;
        this.rowOrdinal = input.fieldIndex("row");
        this.upsertKey = upsertKey;
        this.ttl = ttl;
    }

    @Override
    protected void open() {
        StructType stored = new StructType().add("rows", DataTypes.createArrayType(row, false));
        state = valueState("sinkMaterializeState", stored, ttl);
        known = new KnownRows(row, upsertKey);
    }

    @Override
    protected void begin(InternalRow key) {
        known.rows.clear();
        changed = false;
        InternalRow stored = state.get();
        if (stored != null) {
            for (Object kept : stored.getArray(0).toObjectArray(row)) {
                known.rows.add((InternalRow) kept);
            }
        }
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, row.length());
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

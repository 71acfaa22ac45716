package flinkplan.runtime.changelog;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Upserts for a table that has one row for each primary key: a second one is an error, or nothing.
 *
 * <p>What counts is which rows are there when a micro-batch has ended. Input rows are the primary key's columns, then
 * the row as one struct.
 */
public final class CompactUpserts extends ChangelogKernel {
    private final Spec spec;
    private final StructType keys;
    private final int rowOrdinal;

    private transient ValueState<InternalRow> state;
    private transient KnownRows known;
    private transient InternalRow key;
    private transient InternalRow shown;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the rows
     * @param upsertKey the columns that the changelog's rows are known by, or null: all
     * @param fails whether a second row is an error; if not, the first one stays
     * @param ttl of a primary key's row, in milliseconds; 0: never expires
     */
    public record Spec(StructType row, int[] upsertKey, boolean fails, long ttl) implements Serializable {}

    public CompactUpserts(StructType input, Spec spec) {
        super(input, spec.row, true);
        this.spec = spec;
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
        this.keys = Rows.select(input, IntStream.range(0, rowOrdinal).toArray());
    }

    @Override
    protected void open() {
        state = valueState("sinkMaterializeState", new StructType().add("row", spec.row()), spec.ttl());
        known = new KnownRows(spec.row(), spec.upsertKey());
    }

    @Override
    protected void begin(InternalRow key) {
        this.key = key;
        InternalRow stored = state.get();
        shown = stored == null ? null : stored.getStruct(0, spec.row().length());
        known.rows.clear();
        if (shown != null) {
            known.add(shown);
        }
    }

    @Override
    protected void process(InternalRow input, byte kind) {
        InternalRow current = input.getStruct(rowOrdinal, spec.row().length());
        if (!RowKind.retracts(kind)) {
            known.add(current);
            return;
        }
        int index = known.find(current);
        if (index >= 0) {
            known.rows.remove(index);
        }
    }

    @Override
    protected void finish() {
        if (known.rows.size() > 1 && spec.fails()) {
            throw new IllegalStateException("Primary key constraint violation: multiple distinct records with the same"
                    + " primary key detected. Conflicting key: " + words(key)
                    + ". Use ON CONFLICT DO NOTHING to keep the first record.");
        }
        if (known.rows.isEmpty()) {
            show(null);
        } else if (known.rows.size() == 1 || shown == null) {
            show(known.rows.get(0));
        }
    }

    private String words(InternalRow key) {
        return key.toSeq(keys).mkString("[", ", ", "]");
    }

    private void show(InternalRow next) {
        if (shown == null && next != null) {
            emit(RowKind.INSERT, next);
        } else if (shown != null && next == null) {
            emit(RowKind.DELETE, shown);
        } else if (next != null && !next.equals(shown)) {
            emit(RowKind.UPDATE_AFTER, next);
        } else {
            return;
        }
        if (next == null) {
            state.clear();
        } else {
            state.update(Rows.of(next));
        }
    }
}

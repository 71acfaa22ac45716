package flinkplan.runtime.process;

import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.time.TimedKernel;
import flinkplan.runtime.time.TimedRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The rows of tables with ORDER BY, which wait until the watermark has passed their times. */
public final class SortedTables {
    private final StructType kept;
    private final TimedRows[] tables;
    private final RowOrder[] orders;
    private final UnaryOperator<InternalRow> values;

    /** What takes the rows whose turn has come. */
    public interface Reader {
        void read(InternalRow row, byte kind);
    }

    /**
     * Opens the states of a kernel's tables.
     *
     * @param sorts for each table whether its rows are sorted by time
     * @param orders for each table how its rows of one time are sorted; null where they come as they did
     * @param width how many columns of the kernel's input, from the first one on, a call needs
     * @param values the columns of a row by which its table is ordered
     */
    public SortedTables(
            TimedKernel kernel,
            StructType input,
            boolean[] sorts,
            RowOrder[] orders,
            int width,
            UnaryOperator<InternalRow> values) {
        this.orders = orders;
        this.values = values;
        StructType columns = new StructType();
        for (int i = 0; i < width; i++) {
            columns = columns.add(input.apply(i));
        }
        kept = columns;
        StructType entry = new StructType().add("row", kept, false).add("kind", DataTypes.ByteType, false);
        tables = new TimedRows[sorts.length];
        for (int i = 0; i < tables.length; i++) {
            tables[i] = sorts[i] ? new TimedRows(kernel, "sorted" + i, entry) : null;
        }
    }

    /** Begins on a key; {@code empty}: it is known to have no rows. */
    public void begin(boolean empty) {
        for (TimedRows rows : tables) {
            if (rows != null) {
                rows.begin(empty);
            }
        }
    }

    /** Whether the rows of a table wait. */
    public boolean sorts(int table) {
        return tables[table] != null;
    }

    /** Has a row wait. */
    public void add(int table, long time, InternalRow row, byte kind) {
        tables[table].add(time, Rows.of(columns(row), kind));
    }

    private InternalRow columns(InternalRow row) {
        InternalRow copy = row.copy();
        Object[] columns = new Object[kept.length()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = copy.isNullAt(i) ? null : copy.get(i, kept.apply(i).dataType());
        }
        return new GenericInternalRow(columns);
    }

    /** The time of the first row. */
    public OptionalLong earliest() {
        OptionalLong earliest = OptionalLong.empty();
        for (TimedRows rows : tables) {
            if (rows != null && !rows.all().isEmpty()) {
                long first = rows.all().firstKey();
                earliest = OptionalLong.of(earliest.isPresent() ? Math.min(earliest.getAsLong(), first) : first);
            }
        }
        return earliest;
    }

    /** Hands over the rows of a time, one table after the other. */
    public void take(long time, Reader reader) {
        for (int table = 0; table < tables.length; table++) {
            if (tables[table] != null && tables[table].all().containsKey(time)) {
                take(table, time, reader);
            }
        }
    }

    private void take(int table, long time, Reader reader) {
        List<InternalRow> rows = new ArrayList<>(tables[table].all().get(time));
        RowOrder order = orders[table];
        if (order != null) {
            rows.sort(Comparator.comparing(this::row, (a, b) -> order.compare(values.apply(a), values.apply(b))));
        }
        tables[table].remove(time);
        for (InternalRow entry : rows) {
            reader.read(row(entry), entry.getByte(1));
        }
    }

    private InternalRow row(InternalRow entry) {
        return entry.getStruct(0, kept.length());
    }

    /** Writes what has changed. */
    public void flush() {
        for (TimedRows rows : tables) {
            if (rows != null) {
                rows.flush();
            }
        }
    }
}

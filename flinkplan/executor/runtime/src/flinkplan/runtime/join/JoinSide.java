package flinkplan.runtime.join;

import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.Collection;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The rows of one key that one side of a join keeps, worked on in memory and written back at the batch's end. */
public abstract class JoinSide {
    /** What a state entry holds beside the row. */
    private static final StructType COUNTERS = new StructType()
            .add("count", DataTypes.IntegerType, false)
            .add("associations", DataTypes.IntegerType, false);

    /** A row: how often it is there, and how many rows of the other side match it. */
    static final class Entry {
        final InternalRow row;
        int count;
        int associations;
        boolean changed;

        Entry(InternalRow row, int count, int associations) {
            this.row = row;
            this.count = count;
            this.associations = associations;
        }
    }

    /**
     * How a side is kept.
     *
     * @param name the name of the state
     * @param row the schema of the rows
     * @param ttl milliseconds after its last write that a row is kept; 0: for ever
     * @param uniqueKey the columns that identify a row, or null
     * @param single whether the join's key identifies a row
     * @param appendOnly whether rows are only ever added and their matches need not be counted
     */
    public record Spec(String name, StructType row, long ttl, int[] uniqueKey, boolean single, boolean appendOnly)
            implements Serializable {
        JoinSide open(Kernel kernel) {
            if (single) {
                return new SingleRow(kernel.valueState(name, entrySchema(), ttl), row.length());
            }
            if (uniqueKey != null) {
                StructType key = Rows.select(row, uniqueKey);
                return KeyedRows.byUniqueKey(
                        kernel.mapState(name, key, entrySchema(), ttl), Rows.projection(row, uniqueKey), row.length());
            }
            return appendOnly
                    ? new AppendedRows(kernel.listState(name, row, ttl))
                    : KeyedRows.byRow(kernel.mapState(name, row, COUNTERS, ttl));
        }

        /** Whether a row takes the place of another with its key. */
        boolean replaces() {
            return single || uniqueKey != null;
        }

        private StructType entrySchema() {
            return new StructType().add("row", row).merge(COUNTERS, true);
        }
    }

    /** Forgets what is in memory: another key begins. */
    abstract void begin();

    /** All rows; none of them may be added or removed while they are gone through. */
    abstract Collection<Entry> all();

    /** The row that an added row would replace, or null. */
    abstract Entry replacedBy(InternalRow row);

    abstract void add(InternalRow row, int associations);

    abstract void remove(InternalRow row);

    /** Writes what changed. */
    abstract void flush();
}

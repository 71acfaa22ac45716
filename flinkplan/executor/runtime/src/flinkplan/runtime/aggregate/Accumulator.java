package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * The running value of an aggregate function for one group at a time.
 *
 * <p>What is small is kept in the group's one state row ({@link #load}, {@link #save}); what may grow without
 * bound has a map state of its own ({@link #open}).
 */
public abstract class Accumulator implements Serializable {
    private static final int UNKNOWN = -1;

    private int width = UNKNOWN;

    /** The schema of what {@link #save} writes; may be empty. */
    abstract StructType schema();

    /** How many columns that has; asked for with each group. */
    final int width() {
        if (width == UNKNOWN) {
            width = schema().length();
        }
        return width;
    }

    /**
     * Declares states beyond the group's row; {@code name} tells this accumulator's from the others'.
     *
     * @param states null where the group lives in memory only
     */
    void open(States states, String name, long ttl) {}

    /** Whether {@link #save} has all of the group. */
    boolean isSelfContained() {
        return true;
    }

    /**
     * Begins on a group of which nothing is in memory yet.
     *
     * @param isNew whether nothing of the group is in any state
     */
    void begin(boolean isNew) {}

    /** Becomes the value of no rows at all. */
    abstract void reset();

    abstract void load(InternalRow saved);

    abstract InternalRow save();

    abstract void add(InternalRow row);

    void retract(InternalRow row) {
        throw new IllegalStateException(getClass().getSimpleName() + " cannot take a row back");
    }

    /**
     * Whether a group's rows can be folded apart from each other first, in any order, and {@link #merge merged}, to the
     * same result.
     */
    boolean merges() {
        return false;
    }

    /** Takes in what this function saved of other rows of the group, which come behind those it has. */
    void merge(InternalRow saved) {
        throw new IllegalStateException(getClass().getSimpleName() + " cannot merge");
    }

    /** Whether it makes a difference which rows are folded apart, and parts can be merged one behind the other. */
    boolean mergesInOrder() {
        return false;
    }

    /** Whether the result depends on the order of the rows. */
    boolean orderMatters() {
        return false;
    }

    /** The function's result, as Spark holds it inside. */
    abstract Object value();

    /** Empties the states beyond the group's row. */
    void clear() {}

    /** Writes the states beyond the group's row. */
    void flush() {}
}

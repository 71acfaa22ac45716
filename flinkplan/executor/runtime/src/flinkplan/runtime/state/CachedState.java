package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/**
 * One state of an operator for all keys at which the operator has been since the last flush.
 *
 * @param <C> what is kept of a key
 */
abstract class CachedState<C> extends CachedKeys<C> {
    private final UnsafeProjection binary;
    private final Lifetime lifetime;

    CachedState(StateCache cache, StructType value, Lifetime lifetime) {
        super(cache);
        this.binary = UnsafeProjection.create(value);
        this.lifetime = lifetime;
    }

    /**
     * A row of the state, and when it expires; without the row it is known that there is none. It is stored if the
     * state may have one in its place, and changed if that is another.
     */
    static final class Entry {
        InternalRow row;
        long end;
        boolean isStored;
        boolean isChanged;

        Entry(InternalRow row, long end) {
            this.row = row;
            this.end = end;
        }

        InternalRow live() {
            return row == null || end <= Lifetime.now() ? null : row;
        }
    }

    /** A row as it is read from the state. */
    final Entry read(InternalRow row, long end) {
        Entry entry = new Entry(kept(row), end);
        entry.isStored = row != null;
        return entry;
    }

    /** A row that changes now. */
    final Entry changed(InternalRow row) {
        Entry entry = new Entry(kept(row), lifetime.end());
        entry.isChanged = true;
        return entry;
    }

    private InternalRow kept(InternalRow row) {
        return row == null ? null : kept(binary.apply(row));
    }

    final boolean expires() {
        return lifetime.isLimited();
    }

    /** The same time for what Spark writes next. */
    final void endsAt(long end) {
        lifetime.endsAt(end);
    }
}

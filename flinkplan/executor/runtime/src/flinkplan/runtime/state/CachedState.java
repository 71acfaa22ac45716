package flinkplan.runtime.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.types.StructType;

/**
 * One state of an operator for all keys at which the operator has been since the last flush.
 *
 * @param <C> what is kept of a key
 */
abstract class CachedState<C> {
    private final StateCache cache;
    private final UnsafeProjection binary;
    private final Lifetime lifetime;
    private final Map<UnsafeRow, C> contents = new HashMap<>();

    CachedState(StateCache cache, StructType value, Lifetime lifetime) {
        this.cache = cache;
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

    /** What there is of a key of which nothing has been read yet. */
    abstract C unread();

    /** Writes what has changed of the key that Spark is at. */
    abstract void write(C content);

    /** What is kept of the key that Spark is at. */
    final C content() {
        UnsafeRow key = (UnsafeRow) ImplicitGroupingKeyTracker.getImplicitKeyOption().get();
        C content = contents.get(key);
        if (content == null) {
            content = unread();
            contents.put(kept(key), content);
        }
        return content;
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

    /** A copy of its own: a row that comes may be used again. */
    final UnsafeRow kept(UnsafeRow row) {
        cache.grow(row.getSizeInBytes());
        return row.copy();
    }

    final boolean expires() {
        return lifetime.isLimited();
    }

    /** The same time for what Spark writes next. */
    final void endsAt(long end) {
        lifetime.endsAt(end);
    }

    /** Writes what has changed of all keys, and forgets them. */
    final void flush() {
        contents.forEach((key, content) -> {
            ImplicitGroupingKeyTracker.setImplicitKey(key);
            write(content);
        });
        contents.clear();
    }
}

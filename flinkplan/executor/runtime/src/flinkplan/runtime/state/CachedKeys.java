package flinkplan.runtime.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;

/**
 * What is in memory of all keys at which an operator has been since the last flush.
 *
 * @param <C> what is kept of a key
 */
abstract class CachedKeys<C> {
    private final StateCache cache;
    private final Map<UnsafeRow, C> contents = new HashMap<>();
    /** The key that was asked for last, as Spark has it, and what is kept of it. */
    private UnsafeRow lastKey;

    private C last;

    CachedKeys(StateCache cache) {
        this.cache = cache;
    }

    /** What there is of a key of which nothing has been read yet. */
    abstract C unread();

    /** Writes what has changed of the key that Spark is at. */
    abstract void write(C content);

    /** What is kept of the key that Spark is at. */
    final C content() {
        UnsafeRow key = (UnsafeRow) ImplicitGroupingKeyTracker.getImplicitKeyOption().get();
        if (key != lastKey) {
            last = contents.get(key);
            if (last == null) {
                last = unread();
                contents.put(kept(key), last);
            }
            lastKey = key;
        }
        return last;
    }

    /** A copy of its own: a row that comes may be used again. */
    final UnsafeRow kept(UnsafeRow row) {
        grow(row.getSizeInBytes());
        return row.copy();
    }

    /** Says that a row of so many bytes is kept. */
    final void grow(int bytes) {
        cache.grow(bytes);
    }

    /** Writes what has changed of all keys, and forgets them. */
    final void flush() {
        contents.forEach((key, content) -> {
            ImplicitGroupingKeyTracker.setImplicitKey(key);
            write(content);
        });
        contents.clear();
        lastKey = null;
        last = null;
    }
}

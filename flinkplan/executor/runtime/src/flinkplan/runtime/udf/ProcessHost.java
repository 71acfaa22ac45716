package flinkplan.runtime.udf;

import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Where a process table function is called: the states and timers of the key at work, and where rows go.
 *
 * <p>States are numbered in the order in which the function's class declares them; what they hold are values as Spark
 * holds them inside.
 */
public interface ProcessHost {
    /** A value; null where there is none. */
    Object value(int state);

    /** Writes a value; null removes it. */
    void setValue(int state, Object value);

    /** The elements of a list, in their order. */
    Iterable<Object> elements(int state);

    /** Adds an element to a list. */
    void append(int state, Object element);

    /** The entries of a map. */
    Iterable<Map.Entry<Object, Object>> entries(int state);

    /** Whether a map has a key. */
    boolean contains(int state, Object key);

    /** The value of a key in a map; null where it has none. */
    Object get(int state, Object key);

    /** Puts an entry into a map. */
    void put(int state, Object key, Object value);

    /** Removes an entry of a map. */
    void remove(int state, Object key);

    /** Removes all that a state holds. */
    void clear(int state);

    /** The watermark in milliseconds; {@link Long#MIN_VALUE} before there is one. */
    long watermark();

    /** Sets a timer; one with a name takes the place of the former one of that name. */
    void register(String name, long time);

    /** Removes the timer of a name. */
    void unregister(String name);

    /** Removes the timer without a name at a time. */
    void unregister(long time);

    /** Removes all timers. */
    void unregisterAll();

    /**
     * Takes a row that the function emits.
     *
     * @param kind as {@link flinkplan.runtime.row.RowKind} numbers them
     */
    void emit(byte kind, InternalRow row);
}

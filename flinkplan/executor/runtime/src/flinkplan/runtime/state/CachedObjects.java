package flinkplan.runtime.state;

import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What an operator makes of the states of a key, kept from row to row as long as these stay in memory.
 *
 * @param <T> an object a key, which reads and writes states when the operator is at its key
 */
public final class CachedObjects<T> extends CachedKeys<T> {
    private final Supplier<T> reading;
    private final Consumer<T> writing;

    CachedObjects(StateCache cache, Supplier<T> reading, Consumer<T> writing) {
        super(cache);
        this.reading = reading;
        this.writing = writing;
    }

    /** The object of the key that Spark is at. */
    public T get() {
        return content();
    }

    /** Says that the object keeps another row, of so many bytes. */
    public void keepsRow(int bytes) {
        grow(bytes);
    }

    @Override
    T unread() {
        return reading.get();
    }

    @Override
    void write(T object) {
        writing.accept(object);
    }
}

package flinkplan.runtime.batch;

import org.apache.spark.sql.streaming.ValueState;

/** A value of one key. */
final class MemoryValue<T> implements ValueState<T>, MemoryState {
    private transient T value;

    @Override
    public boolean exists() {
        return value != null;
    }

    @Override
    public T get() {
        return value;
    }

    @Override
    public void update(T value) {
        this.value = value;
    }

    @Override
    public void clear() {
        value = null;
    }
}

package flinkplan.runtime.batch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.streaming.ListState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** A list of one key. */
final class MemoryList<T> implements ListState<T>, MemoryState {
    private transient List<T> values = new ArrayList<>();

    @Override
    public boolean exists() {
        return !values.isEmpty();
    }

    @Override
    public Iterator<T> get() {
        return CollectionConverters.asScala(values.iterator());
    }

    @Override
    public void put(Object array) {
        clear();
        appendList(array);
    }

    @Override
    public void appendValue(T value) {
        values.add(value);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void appendList(Object array) {
        values.addAll(Arrays.asList((T[]) array));
    }

    @Override
    public void clear() {
        values = new ArrayList<>();
    }
}

package flinkplan.runtime.batch;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * States and timers of one key at a time, in memory: what a processor needs of all its keys' state where each key comes
 * once, with all of its rows.
 *
 * <p>Nothing expires: a TTL counts from a write on, and all rows come at once.
 */
final class MemoryHandle implements StatefulProcessorHandle {
    private final List<MemoryState> states = new ArrayList<>();
    private final TreeSet<Long> timers = new TreeSet<>();
    private boolean isFinal;

    /** Turns to another key, of which nothing is kept yet. */
    void begin() {
        states.forEach(MemoryState::clear);
        timers.clear();
        isFinal = false;
    }

    /** Says that nobody will read again what is written from now on. */
    void end() {
        isFinal = true;
    }

    boolean isFinal() {
        return isFinal;
    }

    /** The next timer up to a time, which is then gone; null where there is none. */
    Long expired(long until) {
        return timers.isEmpty() || timers.first() > until ? null : timers.pollFirst();
    }

    private <S extends MemoryState> S kept(S state) {
        states.add(state);
        return state;
    }

    @Override
    public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig ttl) {
        return kept(new MemoryValue<>());
    }

    @Override
    public <T> ValueState<T> getValueState(String name, TTLConfig ttl, Encoder<T> encoder) {
        return getValueState(name, encoder, ttl);
    }

    @Override
    public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig ttl) {
        return kept(new MemoryList<>());
    }

    @Override
    public <T> ListState<T> getListState(String name, TTLConfig ttl, Encoder<T> encoder) {
        return getListState(name, encoder, ttl);
    }

    @Override
    public <K, V> MapState<K, V> getMapState(String name, Encoder<K> key, Encoder<V> value, TTLConfig ttl) {
        return kept(new MemoryMap<>(key, this));
    }

    @Override
    public <K, V> MapState<K, V> getMapState(String name, TTLConfig ttl, Encoder<K> key, Encoder<V> value) {
        return getMapState(name, key, value, ttl);
    }

    @Override
    public void registerTimer(long time) {
        timers.add(time);
    }

    @Override
    public void deleteTimer(long time) {
        timers.remove(time);
    }

    @Override
    public Iterator<Object> listTimers() {
        return CollectionConverters.asScala(new ArrayList<Object>(timers).iterator());
    }

    @Override
    public QueryInfo getQueryInfo() {
        throw new UnsupportedOperationException("a batch is no streaming query");
    }

    @Override
    public void deleteIfExists(String name) {
        throw new UnsupportedOperationException("no state is there before a batch");
    }
}

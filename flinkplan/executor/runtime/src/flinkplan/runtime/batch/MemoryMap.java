package flinkplan.runtime.batch;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.streaming.MapState;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** A map of one key. Its own keys are told apart by their binary form: rows of several classes may hold the same. */
final class MemoryMap<K, V> implements MapState<K, V>, MemoryState {
    private final MemoryHandle handle;
    private final transient Function1<K, InternalRow> binary;
    private final transient Map<InternalRow, Tuple2<K, V>> entries = new LinkedHashMap<>();

    MemoryMap(Encoder<K> key, MemoryHandle handle) {
        this.handle = handle;
        this.binary = ((ExpressionEncoder<K>) key).createSerializer();
    }

    @Override
    public boolean exists() {
        return !entries.isEmpty();
    }

    @Override
    public V getValue(K key) {
        Tuple2<K, V> entry = entries.isEmpty() ? null : entries.get(binary.apply(key));
        return entry == null ? null : entry._2();
    }

    @Override
    public boolean containsKey(K key) {
        return !entries.isEmpty() && entries.containsKey(binary.apply(key));
    }

    @Override
    public void updateValue(K key, V value) {
        if (!handle.isFinal()) {
            entries.put(binary.apply(key).copy(), new Tuple2<>(key, value));
        }
    }

    @Override
    public Iterator<Tuple2<K, V>> iterator() {
        return CollectionConverters.asScala(entries.values().iterator());
    }

    @Override
    public Iterator<K> keys() {
        return iterator().map(Tuple2::_1);
    }

    @Override
    public Iterator<V> values() {
        return iterator().map(Tuple2::_2);
    }

    @Override
    public void removeKey(K key) {
        if (!entries.isEmpty()) {
            entries.remove(binary.apply(key));
        }
    }

    @Override
    public void clear() {
        entries.clear();
    }
}

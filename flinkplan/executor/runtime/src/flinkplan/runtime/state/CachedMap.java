package flinkplan.runtime.state;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.MapStateImplWithTTL;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** A map a key, of which entries are read one by one until all are asked for. */
final class CachedMap extends CachedState<CachedMap.Content> implements MapState<InternalRow, InternalRow> {
    private final MapState<InternalRow, InternalRow> state;
    private final UnsafeProjection binaryKey;

    CachedMap(
            StateCache cache,
            MapState<InternalRow, InternalRow> state,
            StructType key,
            StructType value,
            Lifetime lifetime) {
        super(cache, value, lifetime);
        this.state = state;
        this.binaryKey = UnsafeProjection.create(key);
    }

    /** The entries that have been read or written, all of them or some, and those to be removed from the state. */
    static final class Content {
        private final Map<UnsafeRow, Entry> entries = new LinkedHashMap<>();
        private final Set<UnsafeRow> removed = new HashSet<>();
        private boolean isWhole;
        private boolean isCleared;

        /** Whether the state may have an entry of its own for a key; {@code entry}: the one in memory, if any. */
        private boolean mayBeStored(UnsafeRow key, Entry entry) {
            return entry == null ? !isWhole || removed.contains(key) : entry.isStored;
        }
    }

    @Override
    Content unread() {
        return new Content();
    }

    @Override
    public boolean exists() {
        return iterator().hasNext();
    }

    @Override
    public InternalRow getValue(InternalRow key) {
        Content content = content();
        UnsafeRow binary = binaryKey.apply(key);
        Entry entry = content.entries.get(binary);
        if (entry == null) {
            if (content.isWhole || content.removed.contains(binary)) {
                return null;
            }
            entry = stored(key);
            content.entries.put(kept(binary), entry);
        }
        return entry.live();
    }

    private Entry stored(InternalRow key) {
        if (!expires()) {
            return read(state.getValue(key), Long.MAX_VALUE);
        }
        var found = ((MapStateImplWithTTL<InternalRow, InternalRow>) state).getTTLValue(key);
        return found.isEmpty() ? read(null, 0) : read(found.get()._1(), (Long) found.get()._2());
    }

    @Override
    public boolean containsKey(InternalRow key) {
        return getValue(key) != null;
    }

    @Override
    public void updateValue(InternalRow key, InternalRow value) {
        Content content = content();
        UnsafeRow binary = kept(binaryKey.apply(key));
        Entry entry = changed(value);
        entry.isStored = content.mayBeStored(binary, content.entries.put(binary, entry));
        content.removed.remove(binary);
    }

    @Override
    public void removeKey(InternalRow key) {
        Content content = content();
        UnsafeRow binary = binaryKey.apply(key);
        if (content.mayBeStored(binary, content.entries.remove(binary))) {
            content.removed.add(kept(binary));
        }
    }

    @Override
    public void clear() {
        Content content = content();
        content.entries.clear();
        content.removed.clear();
        content.isWhole = true;
        content.isCleared = true;
    }

    @Override
    public Iterator<Tuple2<InternalRow, InternalRow>> iterator() {
        List<Tuple2<InternalRow, InternalRow>> live = new ArrayList<>();
        whole().forEach((key, entry) -> {
            InternalRow row = entry.live();
            if (row != null) {
                live.add(new Tuple2<>(key, row));
            }
        });
        return CollectionConverters.asScala(live.iterator());
    }

    private Map<UnsafeRow, Entry> whole() {
        Content content = content();
        if (!content.isWhole) {
            state.iterator().foreach(found -> {
                UnsafeRow key = binaryKey.apply(found._1());
                if (!content.entries.containsKey(key) && !content.removed.contains(key)) {
                    Entry entry = expires() ? stored(found._1()) : read(found._2(), Long.MAX_VALUE);
                    content.entries.put(kept(key), entry);
                }
                return null;
            });
            content.isWhole = true;
        }
        return content.entries;
    }

    @Override
    public Iterator<InternalRow> keys() {
        return iterator().map(Tuple2::_1);
    }

    @Override
    public Iterator<InternalRow> values() {
        return iterator().map(Tuple2::_2);
    }

    @Override
    void write(Content content) {
        if (content.isCleared) {
            state.clear();
        }
        content.removed.forEach(key -> StateVariables.remove(state, key));
        content.entries.forEach((key, entry) -> {
            InternalRow row = entry.live();
            if (entry.isChanged && row != null) {
                endsAt(entry.end);
                state.updateValue(key, row);
            } else if (entry.isChanged && entry.isStored) {
                StateVariables.remove(state, key);
            }
        });
    }
}

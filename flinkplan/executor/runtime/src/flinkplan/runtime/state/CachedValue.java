package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.ValueStateImplWithTTL;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/** A value a key. */
final class CachedValue extends CachedState<CachedValue.Content> implements ValueState<InternalRow> {
    private final ValueState<InternalRow> state;

    CachedValue(StateCache cache, ValueState<InternalRow> state, StructType value, Lifetime lifetime) {
        super(cache, value, lifetime);
        this.state = state;
    }

    /** The entry, if it has been read or written. */
    static final class Content {
        private Entry entry;
    }

    @Override
    Content unread() {
        return new Content();
    }

    @Override
    public boolean exists() {
        return get() != null;
    }

    @Override
    public InternalRow get() {
        Content content = content();
        if (content.entry == null) {
            content.entry = stored();
        }
        return content.entry.live();
    }

    private Entry stored() {
        if (!expires()) {
            return read(state.get(), Long.MAX_VALUE);
        }
        var found = ((ValueStateImplWithTTL<InternalRow>) state).getTTLValue();
        return found.isEmpty() ? read(null, 0) : read(found.get()._1(), (Long) found.get()._2());
    }

    @Override
    public void update(InternalRow value) {
        content().entry = changed(value);
    }

    @Override
    public void clear() {
        content().entry = changed(null);
    }

    @Override
    void write(Content content) {
        if (content.entry == null || !content.entry.isChanged) {
            return;
        }
        InternalRow row = content.entry.live();
        if (row == null) {
            state.clear();
        } else {
            endsAt(content.entry.end);
            state.update(row);
        }
    }
}

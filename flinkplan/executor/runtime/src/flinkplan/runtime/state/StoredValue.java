package flinkplan.runtime.state;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.streaming.ValueState;

/** A value a key that does not expire. */
final class StoredValue extends StoredVariable implements ValueState<InternalRow> {
    StoredValue(RocksDB rocksDB, String name, StateCounts counts, StateEncoder encoder) {
        super(rocksDB, name, counts, encoder);
    }

    @Override
    public boolean exists() {
        return stored(key()) != null;
    }

    @Override
    public InternalRow get() {
        byte[] value = stored(key());
        return value == null ? null : encoder.decodeValue(value).copy();
    }

    @Override
    public void update(InternalRow value) {
        put(key(), encoder.value(value));
    }

    @Override
    public void clear() {
        remove(key());
    }
}

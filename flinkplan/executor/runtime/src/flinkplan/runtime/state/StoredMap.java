package flinkplan.runtime.state;

import flinkplan.runtime.row.Rows;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/** A map a key whose entries do not expire: Spark's own, but for what is asked entry by entry. */
final class StoredMap extends StoredVariable implements MapState<InternalRow, InternalRow> {
    private final transient Supplier<MapState<InternalRow, InternalRow>> spark;
    private transient MapState<InternalRow, InternalRow> opened;

    /** @param spark opens Spark's own */
    StoredMap(
            RocksDB rocksDB,
            String name,
            StateCounts counts,
            StateEncoder encoder,
            Supplier<MapState<InternalRow, InternalRow>> spark) {
        super(rocksDB, name, counts, encoder);
        this.spark = spark;
    }

    private MapState<InternalRow, InternalRow> whole() {
        if (opened == null) {
            opened = spark.get();
        }
        return opened;
    }

    @Override
    byte[] encoded(InternalRow key) {
        return encoder.key(Rows.of(key));
    }

    private byte[] entry(InternalRow key) {
        return encoder.withRemainingKey(key(), Rows.of(key));
    }

    @Override
    public InternalRow getValue(InternalRow key) {
        byte[] value = stored(entry(key));
        return value == null ? null : encoder.decodeValue(value).copy();
    }

    @Override
    public boolean containsKey(InternalRow key) {
        return stored(entry(key)) != null;
    }

    @Override
    public void updateValue(InternalRow key, InternalRow value) {
        put(entry(key), encoder.value(value));
    }

    @Override
    public void removeKey(InternalRow key) {
        remove(entry(key));
    }

    @Override
    public boolean exists() {
        return whole().exists();
    }

    @Override
    public Iterator<Tuple2<InternalRow, InternalRow>> iterator() {
        return whole().iterator();
    }

    @Override
    public Iterator<InternalRow> keys() {
        return whole().keys();
    }

    @Override
    public Iterator<InternalRow> values() {
        return whole().values();
    }

    @Override
    public void clear() {
        whole().clear();
    }
}

package flinkplan.runtime.state;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.execution.streaming.state.RocksDB;

/**
 * A variable in Spark's RocksDB, read and written in the bytes that Spark's own would make.
 *
 * <p>For each call Spark's makes rows of the key and the value, and looks the variable up in several tables.
 */
abstract class StoredVariable {
    private final RocksDB rocksDB;
    private final String name;
    private final StateCounts counts;
    final StateEncoder encoder;
    private InternalRow key;
    private byte[] keyBytes;

    StoredVariable(RocksDB rocksDB, String name, StateCounts counts, StateEncoder encoder) {
        this.rocksDB = rocksDB;
        this.name = name;
        this.counts = counts;
        this.encoder = encoder;
    }

    /** The bytes of a key, or of the part of it that all entries of the key share. */
    byte[] encoded(InternalRow key) {
        return encoder.key(key);
    }

    /** Those of the key that Spark is at. */
    final byte[] key() {
        InternalRow current = (InternalRow) ImplicitGroupingKeyTracker.getImplicitKeyOption().get();
        if (current != key) { // each key has a row of its own
            keyBytes = encoded(current);
            key = current;
        }
        return keyBytes;
    }

    final byte[] stored(byte[] entry) {
        return rocksDB.get(entry, name);
    }

    final void put(byte[] entry, byte[] value) {
        rocksDB.put(entry, value, name, false, false, false);
        counts.update();
    }

    /** Adds elements to those of a list. */
    final void merge(byte[] entry, List<byte[]> elements) {
        if (!elements.isEmpty()) {
            rocksDB.mergeList(entry, asScala(elements).toList(), name, false, false, false);
        }
        elements.forEach(element -> counts.update());
    }

    final void remove(byte[] entry) {
        rocksDB.remove(entry, name, false, false, false);
        counts.remove();
    }
}

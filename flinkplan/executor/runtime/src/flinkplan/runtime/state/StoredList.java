package flinkplan.runtime.state;

import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.streaming.ListState;
import scala.collection.Iterator;

/**
 * A list a key whose elements do not expire: read by Spark's own.
 *
 * <p>Spark's keeps the number of elements of each key, for nothing but its progress, which is a read and a write more
 * each time. This one does not; what Spark has kept is removed with the list.
 */
final class StoredList extends StoredVariable implements ListState<InternalRow> {
    private final transient Supplier<ListState<InternalRow>> spark;
    private final transient BooleanSupplier isNowhereCounted;
    private transient ListState<InternalRow> opened;
    private transient Boolean isCounted;

    /**
     * @param spark opens Spark's own
     * @param isNowhereCounted whether Spark has kept no number of elements, of any key
     */
    StoredList(
            RocksDB rocksDB,
            String name,
            StateCounts counts,
            StateEncoder encoder,
            Supplier<ListState<InternalRow>> spark,
            BooleanSupplier isNowhereCounted) {
        super(rocksDB, name, counts, encoder);
        this.spark = spark;
        this.isNowhereCounted = isNowhereCounted;
    }

    private ListState<InternalRow> spark() {
        if (opened == null) {
            opened = spark.get();
        }
        return opened;
    }

    /** Whether Spark had kept any number of elements when it was asked for first: there will be no others. */
    private boolean isCounted() {
        if (isCounted == null) {
            isCounted = !isNowhereCounted.getAsBoolean();
        }
        return isCounted;
    }

    @Override
    public boolean exists() {
        return stored(key()) != null;
    }

    @Override
    public Iterator<InternalRow> get() {
        return spark().get();
    }

    @Override
    public void put(Object array) {
        clear();
        appendList(array);
    }

    @Override
    public void appendValue(InternalRow value) {
        merge(key(), List.of(encoder.element(value)));
    }

    @Override
    public void appendList(Object array) {
        merge(key(), Arrays.stream((InternalRow[]) array).map(encoder::element).toList());
    }

    @Override
    public void clear() {
        if (isCounted()) {
            spark().clear();
        } else {
            remove(key());
        }
    }
}

package flinkplan.runtime.kernel;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.StructType;

/** Where accumulators get their states. */
public interface States {
    /** A map that lives with the key; {@code ttl} in milliseconds, 0 = never expires. */
    MapState<InternalRow, InternalRow> mapState(String name, StructType key, StructType value, long ttl);
}

package flinkplan.runtime.state;

import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/** Opens the variables in which Spark keeps the states of an operator. */
public class Variables {
    private final StatefulProcessorHandle handle;

    public Variables(StatefulProcessorHandle handle) {
        this.handle = handle;
    }

    /** Whether also those are opened that hold nothing and that the operator does not write at present. */
    public boolean opensAll() {
        return false;
    }

    /** A variable of one value a key; {@code schema} is that of the values before they are encoded. */
    public ValueState<InternalRow> value(String name, StructType schema, Encoder<InternalRow> encoder, TTLConfig ttl) {
        return handle.getValueState(name, encoder, ttl);
    }

    /** A variable of a list a key. */
    public ListState<InternalRow> list(String name, StructType schema, Encoder<InternalRow> encoder, TTLConfig ttl) {
        return handle.getListState(name, encoder, ttl);
    }

    /** A variable of a map a key. */
    public MapState<InternalRow, InternalRow> map(
            String name,
            StructType keySchema,
            StructType schema,
            Encoder<InternalRow> keyEncoder,
            Encoder<InternalRow> encoder,
            TTLConfig ttl) {
        return handle.getMapState(name, keyEncoder, encoder, ttl);
    }
}

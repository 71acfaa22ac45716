package flinkplan.runtime.checkpoint;

import flinkplan.runtime.state.Variables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/** Opens the variables of an operator and remembers them, so that entries can be put into each. */
final class LoadedVariables extends Variables {
    private final List<Variable> all = new ArrayList<>();

    LoadedVariables(StatefulProcessorHandle handle) {
        super(handle);
    }

    /** All of them, in the order in which they were opened. */
    List<Variable> all() {
        return all;
    }

    @Override
    public boolean opensAll() {
        return true;
    }

    @Override
    public ValueState<InternalRow> value(String name, StructType schema, Encoder<InternalRow> encoder, TTLConfig ttl) {
        Expiry expiry = Expiry.of(ttl);
        ValueState<InternalRow> state = super.value(name, schema, encoder, expiry == null ? ttl : expiry);
        all.add(new Variable(name, "value", null, schema, expiry, (key, value) -> state.update(value)));
        return state;
    }

    @Override
    public ListState<InternalRow> list(String name, StructType schema, Encoder<InternalRow> encoder, TTLConfig ttl) {
        Expiry expiry = Expiry.of(ttl);
        ListState<InternalRow> state = super.list(name, schema, encoder, expiry == null ? ttl : expiry);
        all.add(new Variable(name, "list", null, schema, expiry, (key, value) -> state.appendValue(value)));
        return state;
    }

    @Override
    public MapState<InternalRow, InternalRow> map(
            String name,
            StructType keySchema,
            StructType schema,
            Encoder<InternalRow> keyEncoder,
            Encoder<InternalRow> encoder,
            TTLConfig ttl) {
        Expiry expiry = Expiry.of(ttl);
        MapState<InternalRow, InternalRow> state =
                super.map(name, keySchema, schema, keyEncoder, encoder, expiry == null ? ttl : expiry);
        all.add(new Variable(name, "map", keySchema, schema, expiry, state::updateValue));
        return state;
    }

    /** Puts one entry into a variable; the key is Spark's current one. */
    interface Put {
        void put(InternalRow mapKey, InternalRow value);
    }

    /**
     * A variable.
     *
     * @param kind {@code value}, {@code list} or {@code map}
     * @param mapKey the schema of a map's keys, else null
     * @param expiry when what is written next expires; null where entries stay
     */
    record Variable(String name, String kind, StructType mapKey, StructType value, Expiry expiry, Put put) {}

    /** The TTL of entries that are written with an expiry of their own: Spark adds it to the time of the batch. */
    static final class Expiry extends TTLConfig {
        private static final long serialVersionUID = 1L;

        private Duration rest;

        private Expiry(Duration ttl) {
            super(ttl);
            this.rest = ttl;
        }

        private static Expiry of(TTLConfig ttl) {
            return ttl.equals(TTLConfig.NONE()) ? null : new Expiry(ttl.ttlDuration());
        }

        /** Says how many milliseconds after the time of the batch that expires which is written next. */
        void in(long milliseconds) {
            rest = Duration.ofMillis(milliseconds);
        }

        @Override
        public Duration ttlDuration() {
            return rest == null ? super.ttlDuration() : rest;
        }
    }
}

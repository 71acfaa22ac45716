package flinkplan.runtime.state;

import flinkplan.runtime.row.Rows;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.StateStoreColumnFamilySchemaUtils;
import org.apache.spark.sql.execution.streaming.state.AvroStateEncoder;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.RangeKeyScanStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.RocksDBDataEncoder;
import org.apache.spark.sql.execution.streaming.state.StateSchemaProvider;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * The keys and values of a state variable in the same bytes as Spark's encoder for Avro, which composes a writer or a reader
 * for each and makes records of Avro's in between.
 *
 * <p>Spark's is asked for what is not known here: some types, and values of another schema than today's, which an earlier
 * plan has left.
 */
public final class StateEncoder extends RocksDBDataEncoder {
    private static final byte[] NEGATIVE = {0};
    private static final byte[] POSITIVE = {1};
    private static final byte NULL = 2;

    private final AvroStateEncoder spark;

    /** The whole key, or its first columns. */
    private final Part key;

    private final boolean isWholeKey;
    private final Part remainingKey;
    private final Part time;
    private final Part value;

    private final UnsafeRowWriter timeRow = new UnsafeRowWriter(1);

    /** @param schemas the numbers of the schemas that {@code variable} has */
    public StateEncoder(
            AvroStateEncoder spark,
            KeyStateEncoderSpec spec,
            StructType valueSchema,
            StateSchemaProvider schemas,
            String variable) {
        super(spec, valueSchema);
        this.spark = spark;
        byte[] plain = {0};
        byte[] keyHeader = header(schemas.getCurrentStateSchemaId(variable, true));
        this.value = Part.of(valueSchema, header(schemas.getCurrentStateSchemaId(variable, false)));
        StructType schema = spec.keySchema();
        this.isWholeKey = spec instanceof NoPrefixKeyStateEncoderSpec;
        if (isWholeKey) {
            this.key = Part.of(schema, keyHeader);
            this.remainingKey = null;
            this.time = null;
        } else if (spec instanceof PrefixKeyScanStateEncoderSpec prefix) {
            int columns = prefix.numColsPrefixKey();
            this.key = Part.of(columns(schema, 0, columns), plain);
            this.remainingKey = Part.of(columns(schema, columns, schema.length()), keyHeader);
            this.time = null;
        } else {
            boolean isByTime = spec instanceof RangeKeyScanStateEncoderSpec range && startsWithTime(range);
            this.key = null;
            this.remainingKey = isByTime ? Part.of(columns(schema, 1, schema.length()), keyHeader) : null;
            this.time = isByTime ? Part.of(inOrder(schema.apply(0)), plain) : null;
        }
    }

    private static byte[] header(short schema) {
        byte[] header = new byte[1 + Short.BYTES];
        Platform.putShort(header, Platform.BYTE_ARRAY_OFFSET + 1L, schema);
        return header;
    }

    private static StructType columns(StructType schema, int from, int to) {
        StructType part = new StructType();
        for (int i = from; i < to; i++) {
            part = part.add(schema.apply(i));
        }
        return part;
    }

    private static boolean startsWithTime(RangeKeyScanStateEncoderSpec spec) {
        return spec.orderingOrdinals().length() == 1
                && spec.orderingOrdinals().head().equals(0)
                && spec.keySchema().apply(0).dataType() instanceof LongType;
    }

    /** The schema of a number as bytes that are in its order: first whether it is negative, then its own. */
    private static StructType inOrder(StructField number) {
        return StateStoreColumnFamilySchemaUtils.convertForRangeScan(
                new StructType().add(number), StateStoreColumnFamilySchemaUtils.convertForRangeScan$default$2());
    }

    /** Whether all parts of it are known here. */
    boolean knowsAll() {
        return key != null && value != null && (isWholeKey || remainingKey != null);
    }

    /** The bytes of a key, or of its first columns with their length in front, as a map's entries begin. */
    byte[] key(InternalRow row) {
        byte[] bytes = key.encode(row);
        return isWholeKey ? bytes : withLength(bytes);
    }

    /** The bytes of an entry of a map: those of {@link #key}, then its own. */
    byte[] withRemainingKey(byte[] prefix, InternalRow row) {
        return remainingKey.encode(prefix, row);
    }

    /** The bytes of a value. */
    byte[] value(InternalRow row) {
        return value.encode(row);
    }

    /** The bytes of an element of a list: their number, then those of the value. */
    byte[] element(InternalRow row) {
        return withLength(value.encode(row));
    }

    private static byte[] withLength(byte[] bytes) {
        byte[] all = new byte[Integer.BYTES + bytes.length];
        Platform.putInt(all, Platform.BYTE_ARRAY_OFFSET, bytes.length);
        System.arraycopy(bytes, 0, all, Integer.BYTES, bytes.length);
        return all;
    }

    @Override
    public byte[] encodeKey(UnsafeRow row) {
        return key == null ? spark.encodeKey(row) : key.encode(row);
    }

    @Override
    public UnsafeRow decodeKey(byte[] bytes) {
        return Part.reads(key, bytes) ? key.decode(bytes) : spark.decodeKey(bytes);
    }

    @Override
    public byte[] encodeRemainingKey(UnsafeRow row) {
        return remainingKey == null ? spark.encodeRemainingKey(row) : remainingKey.encode(row);
    }

    @Override
    public UnsafeRow decodeRemainingKey(byte[] bytes) {
        return Part.reads(remainingKey, bytes) ? remainingKey.decode(bytes) : spark.decodeRemainingKey(bytes);
    }

    @Override
    public byte[] encodePrefixKeyForRangeScan(UnsafeRow row) {
        if (time == null || row.isNullAt(0)) {
            return spark.encodePrefixKeyForRangeScan(row);
        }
        long number = row.getLong(0);
        byte[] ordered = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        return time.encode(Rows.of(number < 0 ? NEGATIVE : POSITIVE, ordered));
    }

    @Override
    public UnsafeRow decodePrefixKeyForRangeScan(byte[] bytes) {
        if (!Part.reads(time, bytes)) {
            return spark.decodePrefixKeyForRangeScan(bytes);
        }
        UnsafeRow ordered = time.decode(bytes);
        if (ordered.isNullAt(1) || ordered.getBinary(0)[0] == NULL) {
            return spark.decodePrefixKeyForRangeScan(bytes);
        }
        timeRow.reset();
        timeRow.zeroOutNullBytes();
        timeRow.write(0, ByteBuffer.wrap(ordered.getBinary(1)).getLong());
        return timeRow.getRow();
    }

    @Override
    public byte[] encodeValue(UnsafeRow row) {
        return value == null ? spark.encodeValue(row) : value.encode(row);
    }

    @Override
    public UnsafeRow decodeValue(byte[] bytes) {
        return Part.reads(value, bytes) ? value.decode(bytes) : spark.decodeValue(bytes);
    }

    @Override
    public boolean supportsSchemaEvolution() {
        return spark.supportsSchemaEvolution();
    }

    /** Rows of a schema, each behind a header: the version of the encoding, and mostly the number of the schema. */
    private static final class Part {
        private static final byte[] NOTHING = {};

        private final AvroRows rows;
        private final byte[] header;
        private final AvroBytes bytes = new AvroBytes();

        private Part(AvroRows rows, byte[] header) {
            this.rows = rows;
            this.header = header;
        }

        /** Null where there is something in the schema whose encoding is not known. */
        static Part of(StructType schema, byte[] header) {
            AvroRows rows = AvroRows.of(schema);
            return rows == null ? null : new Part(rows, header);
        }

        byte[] encode(InternalRow row) {
            return encode(NOTHING, row);
        }

        byte[] encode(byte[] before, InternalRow row) {
            bytes.clear();
            bytes.writeAll(before);
            bytes.writeAll(header);
            rows.write(row, bytes);
            return bytes.copy();
        }

        /** Whether bytes are of this schema. */
        static boolean reads(Part part, byte[] bytes) {
            return part != null
                    && Arrays.equals(
                            part.header, 0, part.header.length, bytes, 0, Math.min(part.header.length, bytes.length));
        }

        UnsafeRow decode(byte[] bytes) {
            return rows.read(bytes, header.length);
        }
    }
}

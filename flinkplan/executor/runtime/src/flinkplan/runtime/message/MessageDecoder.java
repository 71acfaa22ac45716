package flinkplan.runtime.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.format.Records;
import flinkplan.runtime.source.MalformedInputException;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Makes rows of messages: each row of the value with each one of the key.
 *
 * <p>As Flink's {@code DynamicKafkaDeserializationSchema}: where key and value have a column, it is the value's; a
 * message without a value deletes the row of its key where messages tell upserts.
 */
public final class MessageDecoder implements Serializable {
    private static final Object[] NOTHING = {};

    private final Part key;
    private final Part value;
    private final int width;
    private final boolean upserts;

    private MessageDecoder(Part key, Part value, int width, boolean upserts) {
        this.key = key;
        this.value = value;
        this.width = width;
        this.upserts = upserts;
    }

    /**
     * The column of the rows of a message, an array of structs of the type {@code row}.
     *
     * @param spec {@code {"value": {"format", "options", "type", "projection", "at": [the places of its fields in
     *     rows]}, "key": null or the same, "upserts"}} in JSON
     * @param row the columns that are wanted, then the row kind
     * @param message the columns key, value, topic, partition and offset
     */
    public static Column column(String spec, StructType row, List<Column> message) throws JsonProcessingException {
        JsonNode json = MessageFormat.json(spec);
        Part key = json.get("key").isNull() ? null : Part.of(json.get("key"));
        MessageDecoder decoder = new MessageDecoder(
                key, Part.of(json.get("value")), row.length() - 1, json.get("upserts").asBoolean());
        DataType rows = DataTypes.createArrayType(row, false);
        List<DataType> types = List.of(
                DataTypes.BinaryType,
                DataTypes.BinaryType,
                DataTypes.StringType,
                DataTypes.IntegerType,
                DataTypes.LongType);
        return MethodCall.deterministic(decoder, "decode", rows, true, message, types);
    }

    /** A key or a value: how it is written, and where its fields stand in rows. */
    private static final class Part implements Serializable {
        final int[] at;
        private final MessageFormat format;
        private transient Decoder decoder;

        private Part(MessageFormat format, int[] at) {
            this.format = format;
            this.at = at;
        }

        static Part of(JsonNode json) {
            int[] at = MessageFormat.integers(json.get("at")).stream().mapToInt(i -> i).toArray();
            return new Part(MessageFormat.of(json), at);
        }

        void decode(byte[] bytes, Decoder.Rows rows) throws IOException {
            if (decoder == null) {
                decoder = format.decoder();
            }
            if (bytes != null) {
                decoder.decode(bytes, 0, end(bytes), rows);
            } else if (format.hasNull()) {
                rows.add(Decoder.INSERT, new Object[at.length]);
            }
        }

        /** Where the first record of a message ends: what is behind, nobody reads. */
        private int end(byte[] bytes) {
            Records records = decoder.records();
            if (records == null) {
                return bytes.length;
            }
            records.begin();
            int end = records.end(bytes, 0, 0, bytes.length);
            return end < 0 ? bytes.length : end;
        }
    }

    /** Called for each message. */
    public ArrayData decode(byte[] keyBytes, byte[] bytes, UTF8String topic, int partition, long offset)
            throws MalformedInputException {
        List<InternalRow> rows = new ArrayList<>(1);
        try {
            if (key == null) {
                value.decode(bytes, (kind, values) -> rows.add(row(NOTHING, values, kind)));
                return new GenericArrayData(rows.toArray());
            }
            List<Object[]> keys = new ArrayList<>(1);
            key.decode(keyBytes, (kind, values) -> keys.add(values));
            if (bytes == null && upserts) {
                keys.forEach(found -> rows.add(row(found, NOTHING, Decoder.DELETE)));
            } else {
                value.decode(bytes, (kind, values) -> keys.forEach(found -> rows.add(row(found, values, kind))));
            }
        } catch (RuntimeException | IOException e) {
            throw new MalformedInputException(
                    String.format("topic %s, partition %d, offset %d", topic, partition, offset), e);
        }
        return new GenericArrayData(rows.toArray());
    }

    private InternalRow row(Object[] keyValues, Object[] values, byte kind) {
        Object[] row = new Object[width + 1];
        for (int i = 0; i < keyValues.length; i++) {
            row[key.at[i]] = keyValues[i];
        }
        for (int i = 0; i < values.length; i++) {
            row[value.at[i]] = values[i];
        }
        row[width] = kind;
        return new GenericInternalRow(row);
    }
}

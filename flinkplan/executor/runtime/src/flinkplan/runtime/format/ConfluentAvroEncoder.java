package flinkplan.runtime.format;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The formats {@code avro-confluent} and {@code debezium-avro-confluent}; what it writes {@link ConfluentAvroDecoder}
 * reads. Sources: {@code RegistryAvroSerializationSchema} and {@code DebeziumAvroSerializationSchema}.
 */
final class ConfluentAvroEncoder implements Encoder {
    private static final UTF8String INSERTED = UTF8String.fromString("c");
    private static final UTF8String DELETED = UTF8String.fromString("d");

    private final AvroValues.Writer writer;
    private final boolean isChangelog;
    private final int id;
    private transient BinaryEncoder output;

    ConfluentAvroEncoder(FlinkType row, FormatOptions options, boolean isChangelog) {
        AvroValues values = new AvroValues(options);
        writer = isChangelog ? values.writer(ConfluentAvroDecoder.changes(row)) : values.recordWriter(row);
        this.isChangelog = isChangelog;
        id = Integer.parseInt(options.get("id", null));
    }

    @Override
    public void encode(byte kind, InternalRow row, OutputStream out) throws IOException {
        DataOutputStream header = new DataOutputStream(out);
        header.writeByte(0);
        header.writeInt(id);
        output = EncoderFactory.get().binaryEncoder(out, output);
        writer.write(new GenericInternalRow(new Object[] {isChangelog ? change(kind, row) : row}), 0, output);
        output.flush();
        out.write('\n');
    }

    private static InternalRow change(byte kind, InternalRow row) {
        boolean isThere = kind == Decoder.INSERT || kind == Decoder.UPDATE_AFTER;
        return new GenericInternalRow(
                isThere ? new Object[] {null, row, INSERTED} : new Object[] {row, null, DELETED});
    }
}

package flinkplan.runtime.format;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The format {@code avro}; what it writes {@link AvroDecoder} reads. Source: {@code AvroRowDataSerializationSchema}.
 */
final class AvroEncoder implements Encoder {
    private final AvroValues.Writer[] writers;
    private transient BinaryEncoder output;

    AvroEncoder(FlinkType row, FormatOptions options) {
        AvroValues values = new AvroValues(options);
        writers = row.children().stream().map(values::writer).toArray(AvroValues.Writer[]::new);
    }

    @Override
    public void encode(byte kind, InternalRow row, OutputStream out) throws IOException {
        output = EncoderFactory.get().binaryEncoder(out, output);
        for (int i = 0; i < writers.length; i++) {
            writers[i].write(row, i, output);
        }
        output.flush();
        out.write('\n');
    }
}

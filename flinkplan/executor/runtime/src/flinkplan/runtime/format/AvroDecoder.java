package flinkplan.runtime.format;

import java.io.IOException;
import java.util.List;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * The format {@code avro}: a record in Avro's binary encoding, whose schema is that of the columns.
 *
 * <p>The schema is not in the message. Source: Flink's {@code AvroRowDataDeserializationSchema}.
 */
final class AvroDecoder implements Decoder {
    private final AvroValues.Reader[] readers;
    private final int[] places;
    private final int width;
    private transient BinaryDecoder input;

    /** @param projection the indexes of the fields that rows have, in order */
    AvroDecoder(FlinkType row, List<Integer> projection, FormatOptions options) {
        AvroValues values = new AvroValues(options);
        readers = row.children().stream().map(values::reader).toArray(AvroValues.Reader[]::new);
        places = new int[readers.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = projection.indexOf(i);
        }
        width = projection.size();
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        input = DecoderFactory.get().binaryDecoder(buffer, from, to - from, input);
        Object[] values = new Object[width];
        for (int i = 0; i < readers.length; i++) {
            Object value = readers[i].read(input);
            if (places[i] >= 0) {
                values[places[i]] = value;
            }
        }
        rows.add(INSERT, values);
    }
}

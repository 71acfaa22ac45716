package flinkplan.runtime.format;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** The format {@code raw}: the whole message is the value of the one column. */
final class RawDecoder implements Decoder {
    private final FlinkType type;
    private final String charset;
    private final boolean bigEndian;

    RawDecoder(FlinkType row, FormatOptions options) {
        type = row.child(0);
        charset = options.get("charset", "UTF-8");
        bigEndian = options.get("endianness", "big-endian").equals("big-endian");
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        rows.add(INSERT, new Object[] {value(Arrays.copyOfRange(buffer, from, to))});
    }

    private Object value(byte[] message) throws IOException {
        return switch (type.root()) {
            case "CHAR", "VARCHAR" -> UTF8String.fromBytes(
                    new String(message, Charset.forName(charset)).getBytes(StandardCharsets.UTF_8));
            case "BINARY", "VARBINARY" -> message;
            case "BOOLEAN" -> sized(message, 1)[0] != 0;
            case "TINYINT" -> sized(message, 1)[0];
            case "SMALLINT" -> numbers(message, 2).getShort();
            case "INT" -> numbers(message, 4).getInt();
            case "BIGINT" -> numbers(message, 8).getLong();
            case "FLOAT" -> numbers(message, 4).getFloat();
            case "DOUBLE" -> numbers(message, 8).getDouble();
            default -> throw new IOException("The raw format cannot read the type " + type.root());
        };
    }

    private ByteBuffer numbers(byte[] message, int size) throws IOException {
        return ByteBuffer.wrap(sized(message, size)).order(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }

    private byte[] sized(byte[] message, int size) throws IOException {
        if (message.length != size) {
            throw new IOException(
                    "Size of data received for deserializing " + type.root() + " type is not " + size + ".");
        }
        return message;
    }
}

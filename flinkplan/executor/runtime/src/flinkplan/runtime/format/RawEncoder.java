package flinkplan.runtime.format;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import org.apache.spark.sql.catalyst.InternalRow;

/** The format {@code raw}: the value of the one column is the message. */
final class RawEncoder implements Encoder {
    private final Values.Getter getter;
    private final String charset;
    private final boolean bigEndian;

    RawEncoder(FlinkType type, FormatOptions options) {
        getter = Values.getter(type.child(0));
        charset = options.get("charset", "UTF-8");
        bigEndian = options.get("endianness", "big-endian").equals("big-endian");
    }

    @Override
    public void encode(byte kind, InternalRow row, OutputStream out) throws IOException {
        if (!row.isNullAt(0)) {
            out.write(bytes(getter.get(row, 0)));
        }
        out.write('\n');
    }

    private byte[] bytes(Object value) {
        if (value instanceof String text) {
            return text.getBytes(Charset.forName(charset));
        }
        if (value instanceof byte[] bytes) {
            return bytes;
        }
        if (value instanceof Boolean bool) {
            return new byte[] {(byte) (bool ? 1 : 0)};
        }
        ByteBuffer buffer = ByteBuffer.allocate(8).order(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        if (value instanceof Byte number) {
            buffer.put(number);
        } else if (value instanceof Short number) {
            buffer.putShort(number);
        } else if (value instanceof Integer number) {
            buffer.putInt(number);
        } else if (value instanceof Long number) {
            buffer.putLong(number);
        } else if (value instanceof Float number) {
            buffer.putFloat(number);
        } else {
            buffer.putDouble((double) value);
        }
        byte[] bytes = new byte[buffer.position()];
        buffer.rewind().get(bytes);
        return bytes;
    }
}

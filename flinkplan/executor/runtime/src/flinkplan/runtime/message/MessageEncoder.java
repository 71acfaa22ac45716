package flinkplan.runtime.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.format.Encoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Makes the keys or the values of messages of rows. */
public final class MessageEncoder implements Serializable {
    private final Encoder encoder;
    private final boolean hasNull;
    private transient Line line;

    private MessageEncoder(MessageFormat format) {
        encoder = format.encoder();
        hasNull = format.hasNull();
    }

    /**
     * The column of the bytes of rows.
     *
     * @param spec {@code {"format", "options", "type"}} in JSON
     * @param type that of {@code row}, whose fields are those of the format's type
     * @param kind the column of row kinds
     */
    public static Column column(String spec, StructType type, Column row, Column kind)
            throws JsonProcessingException {
        MessageEncoder encoder = new MessageEncoder(MessageFormat.of(MessageFormat.json(spec)));
        List<Column> arguments = List.of(row, kind);
        List<DataType> types = List.of(type, DataTypes.ByteType);
        return MethodCall.deterministic(encoder, "encode", DataTypes.BinaryType, true, arguments, types);
    }

    /** Called for each row; null where the message has no content. */
    public byte[] encode(InternalRow row, byte kind) throws IOException {
        if (hasNull && row.isNullAt(0)) {
            return null;
        }
        if (line == null) {
            line = new Line();
        }
        line.reset();
        encoder.encode(kind, row, line);
        return line.withoutEnd();
    }

    private static final class Line extends ByteArrayOutputStream {
        /** A message needs no line end. */
        byte[] withoutEnd() {
            return Arrays.copyOf(buf, count - 1);
        }
    }
}

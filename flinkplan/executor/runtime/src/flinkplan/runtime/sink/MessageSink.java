package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.JsonNode;
import flinkplan.runtime.python.PythonProcess;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.MapData;

/**
 * Has a client in a process of Python send messages as they come; all have arrived when a batch has finished.
 *
 * <p>The columns are those of messages: key, value, time in milliseconds since 1970, and headers; any may be NULL.
 */
record MessageSink(PythonProcess.Program program) implements RowByRowSink {
    private static final String MODULE = "flinkplan.executor.kafka.client_process";
    private static final int KEY = 0, VALUE = 1, TIMESTAMP = 2, HEADERS = 3, ABSENT = -1;

    /** Reads {@code {"python", "modules", "client": {"settings", "topic", "fixed"}}}. */
    static MessageSink of(JsonNode spec) {
        byte[] client = spec.get("client").toString().getBytes(StandardCharsets.UTF_8);
        return new MessageSink(new PythonProcess.Program(
                spec.get("python").asText(), spec.get("modules").asText(), MODULE, List.of(client)));
    }

    @Override
    public Writer open(String batch, int task, boolean changelog) throws IOException {
        PythonProcess process = PythonProcess.of(program);
        process.send(ByteBuffer.allocate(Integer.BYTES).putInt(task).array());
        return new Messages(process);
    }

    private final class Messages implements Writer {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream frame = new DataOutputStream(bytes);
        private PythonProcess process;
        private long count;

        Messages(PythonProcess process) {
            this.process = process;
        }

        @Override
        public void write(InternalRow row) throws IOException {
            bytes.reset();
            frame.writeLong(row.isNullAt(TIMESTAMP) ? ABSENT : row.getLong(TIMESTAMP));
            write(row.isNullAt(KEY) ? null : row.getBinary(KEY));
            write(row.isNullAt(VALUE) ? null : row.getBinary(VALUE));
            MapData named = row.isNullAt(HEADERS) ? null : row.getMap(HEADERS);
            int names = named == null ? 0 : named.numElements();
            frame.writeInt(names);
            for (int i = 0; i < names; i++) {
                write(named.keyArray().getUTF8String(i).getBytes());
                write(named.valueArray().isNullAt(i) ? null : named.valueArray().getBinary(i));
            }
            process.send(bytes.toByteArray());
            process.flush();
            count++;
        }

        private void write(byte[] content) throws IOException {
            frame.writeInt(content == null ? ABSENT : content.length);
            if (content != null) {
                frame.write(content);
            }
        }

        @Override
        public Written finish() throws IOException {
            process.end();
            process.receive();
            process.release();
            process = null;
            return new Written(count);
        }

        @Override
        public void close() {
            if (process != null) {
                process.destroy();
            }
        }
    }
}

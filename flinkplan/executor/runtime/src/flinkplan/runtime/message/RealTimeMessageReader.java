package flinkplan.runtime.message;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import flinkplan.runtime.message.RealTimeMessageStream.Place;
import flinkplan.runtime.message.RealTimeMessageStream.Reached;
import flinkplan.runtime.python.PythonProcess;
import flinkplan.runtime.source.RealTimeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads messages as they come: a thread asks the client's process for more while others are read.
 *
 * <p>What was asked for and not read when the batch ends is asked for again by the next one.
 */
final class RealTimeMessageReader extends RealTimeReader {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final long PATIENCE = TimeUnit.MICROSECONDS.toNanos(300);
    private static final byte[] POLL = {};
    private static final int ABSENT = -1;
    /** Answers that wait to be read. */
    private static final int AHEAD = 4;

    private final String[] columns;
    private final PythonProcess process;
    private final List<UTF8String> topics = new ArrayList<>();
    private final List<Place> places;
    private final BlockingQueue<ByteBuffer> answers = new ArrayBlockingQueue<>(AHEAD);
    private final Thread asking;
    private volatile boolean isClosed;
    private volatile Throwable failure;
    private ByteBuffer answer = ByteBuffer.allocate(0);
    private InternalRow current;

    RealTimeMessageReader(StructType schema, PythonProcess.Program program, List<Place> start, boolean ticks) {
        super(ticks ? new GenericInternalRow(tick(schema)) : null);
        columns = schema.fieldNames();
        places = new ArrayList<>(start);
        start.forEach(place -> topics.add(UTF8String.fromString(place.topic())));
        process = PythonProcess.of(program);
        asking = new Thread(this::ask, "messages");
        asking.setDaemon(true);
        asking.start();
    }

    private static Object[] tick(StructType schema) {
        Object[] row = new Object[schema.length()];
        row[schema.fieldIndex("offset")] = TICK;
        return row;
    }

    private void ask() {
        try {
            ArrayNode assigned = MAPPER.createArrayNode();
            places.forEach(place ->
                    assigned.addArray().add(place.topic()).add(place.partition()).add(place.offset()));
            byte[] request = MAPPER.writeValueAsBytes(assigned);
            while (!isClosed) {
                process.send(request);
                process.flush();
                ByteBuffer messages = ByteBuffer.wrap(process.receive());
                while (messages.hasRemaining() && !isClosed && !answers.offer(messages, 50, TimeUnit.MILLISECONDS)) {}
                request = POLL;
            }
        } catch (IOException | RuntimeException | InterruptedException e) {
            failure = e;
        }
    }

    @Override
    protected boolean advance() throws IOException {
        if (!answer.hasRemaining()) {
            ByteBuffer next = answers.poll();
            if (next == null) {
                if (failure instanceof RuntimeException e) {
                    throw e;
                }
                if (failure != null) {
                    throw new IOException(failure);
                }
                return false;
            }
            answer = next;
        }
        current = message();
        return true;
    }

    private InternalRow message() {
        int at = answer.getInt();
        long offset = answer.getLong();
        long timestamp = answer.getLong();
        int timestampType = answer.getInt();
        int epoch = answer.getInt();
        byte[] key = bytes();
        byte[] value = bytes();
        ArrayBasedMapData headers = headers();
        Place place = places.get(at);
        Object[] row = new Object[columns.length];
        for (int i = 0; i < row.length; i++) {
            row[i] = switch (columns[i]) {
                case "topic" -> topics.get(at);
                case "partition" -> place.partition();
                case "offset" -> offset;
                case "key" -> key;
                case "value" -> value;
                case "timestamp" -> timestamp;
                case "timestamp-type" -> timestampType;
                case "leader-epoch" -> epoch < 0 ? null : epoch;
                case "headers" -> headers;
                default -> throw new IllegalArgumentException(columns[i]);
            };
        }
        places.set(at, new Place(place.topic(), place.partition(), offset + 1));
        return new GenericInternalRow(row);
    }

    private byte[] bytes() {
        int length = answer.getInt();
        if (length == ABSENT) {
            return null;
        }
        byte[] bytes = new byte[length];
        answer.get(bytes);
        return bytes;
    }

    private ArrayBasedMapData headers() {
        Object[] names = new Object[answer.getInt()];
        Object[] values = new Object[names.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = UTF8String.fromBytes(bytes());
            values[i] = bytes();
        }
        return new ArrayBasedMapData(new GenericArrayData(names), new GenericArrayData(values));
    }

    @Override
    protected long patience() {
        return PATIENCE;
    }

    @Override
    protected InternalRow row() {
        return current;
    }

    @Override
    public PartitionOffset getOffset() {
        return new Reached(List.copyOf(places));
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        try {
            asking.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failure == null && !asking.isAlive()) {
            process.release();
        } else {
            process.destroy();
        }
    }
}

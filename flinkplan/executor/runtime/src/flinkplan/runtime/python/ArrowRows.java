package flinkplan.runtime.python;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Rows of a schema to and from Arrow's record batches. */
final class ArrowRows implements AutoCloseable {
    private final BufferAllocator allocator;
    private final VectorSchemaRoot root;
    private final ArrowWriter writer;
    private int count;

    ArrowRows(StructType schema) {
        Object shared = ArrowUtils.rootAllocator(); // its class has annotations that javac does not find
        allocator = ((BufferAllocator) shared).newChildAllocator("python kernel", 0, Long.MAX_VALUE);
        root = VectorSchemaRoot.create(arrow(schema), allocator);
        writer = ArrowWriter.create(root);
    }

    private static Schema arrow(StructType schema) {
        return ArrowUtils.toArrowSchema(schema, "UTC", true, false, ArrowUtils.toArrowSchema$default$5());
    }

    /** A schema as Arrow writes it. */
    static byte[] schema(StructType schema) {
        return arrow(schema).serializeAsMessage();
    }

    int count() {
        return count;
    }

    void add(InternalRow row) {
        writer.write(row);
        count++;
    }

    /** The rows that were added since the last time. */
    ByteArrayOutputStream written() throws IOException {
        writer.finish();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ArrowRecordBatch batch = new VectorUnloader(root).getRecordBatch()) {
            MessageSerializer.serialize(new WriteChannel(Channels.newChannel(bytes)), batch);
        }
        writer.reset();
        count = 0;
        return bytes;
    }

    /** Hands on the rows of a batch, each of which is there until the next one comes. */
    void read(byte[] bytes, Consumer<InternalRow> rows) throws IOException {
        ReadChannel channel = new ReadChannel(Channels.newChannel(new ByteArrayInputStream(bytes)));
        try (ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(channel, allocator)) {
            new VectorLoader(root).load(batch);
        }
        ColumnVector[] columns =
                root.getFieldVectors().stream().map(ArrowRows::column).toArray(ColumnVector[]::new);
        ColumnarBatch batch = new ColumnarBatch(columns, root.getRowCount());
        batch.rowIterator().forEachRemaining(rows);
        root.clear();
    }

    private static ColumnVector column(FieldVector vector) {
        return new ArrowColumnVector(vector);
    }

    @Override
    public void close() {
        root.close();
        allocator.close();
    }
}

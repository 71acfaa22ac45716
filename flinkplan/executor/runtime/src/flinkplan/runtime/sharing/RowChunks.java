package flinkplan.runtime.sharing;

import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * Rows behind each other in arrays of bytes: fewer objects than rows, and none that is copied when it is read.
 *
 * <p>In front of each row stands its length, in {@link #HEAD} bytes, so that rows stay aligned.
 */
final class RowChunks implements Iterator<byte[]> {
    static final int HEAD = Long.BYTES;
    private static final int SIZE = 1 << 20;
    private static final int FIRST_SIZE = 1 << 12;

    private final Iterator<InternalRow> rows;
    private final StructType schema;
    private UnsafeProjection projection;
    private UnsafeRow next;

    RowChunks(Iterator<InternalRow> rows, StructType schema) {
        this.rows = rows;
        this.schema = schema;
        next = read();
    }

    private UnsafeRow read() {
        if (!rows.hasNext()) {
            return null;
        }
        InternalRow row = rows.next();
        if (row instanceof UnsafeRow unsafe) {
            return unsafe;
        }
        if (projection == null) {
            projection = UnsafeProjection.create(schema);
        }
        return projection.apply(row);
    }

    @Override
    public boolean hasNext() {
        return next != null;
    }

    @Override
    public byte[] next() {
        if (next == null) {
            throw new NoSuchElementException();
        }
        byte[] chunk = new byte[FIRST_SIZE];
        int filled = 0;
        while (next != null) {
            int size = next.getSizeInBytes();
            int end = Math.addExact(filled, HEAD + size);
            if (end > SIZE && filled > 0) {
                break;
            }
            if (end > chunk.length) {
                chunk = Arrays.copyOf(chunk, Math.max(end, Math.min(2 * chunk.length, SIZE)));
            }
            Platform.putLong(chunk, Platform.BYTE_ARRAY_OFFSET + filled, size);
            next.writeToMemory(chunk, Platform.BYTE_ARRAY_OFFSET + filled + HEAD);
            filled = end;
            next = read();
        }
        return filled == chunk.length ? chunk : Arrays.copyOf(chunk, filled);
    }
}

package flinkplan.runtime.sharing;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** The rows of {@link RowChunks}, one object for all of them. */
final class ChunkRows implements Iterator<InternalRow> {
    private final Iterator<byte[]> chunks;
    private final UnsafeRow row;
    private byte[] chunk = {};
    private int position;

    ChunkRows(Iterator<byte[]> chunks, int width) {
        this.chunks = chunks;
        row = new UnsafeRow(width);
    }

    @Override
    public boolean hasNext() {
        return position < chunk.length || chunks.hasNext();
    }

    @Override
    public InternalRow next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        if (position == chunk.length) {
            chunk = chunks.next();
            position = 0;
        }
        int size = (int) Platform.getLong(chunk, Platform.BYTE_ARRAY_OFFSET + position);
        position += RowChunks.HEAD;
        row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET + position, size);
        position += size;
        return row;
    }
}

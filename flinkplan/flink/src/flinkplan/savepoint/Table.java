package flinkplan.savepoint;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A table being written: batches of rows, each the number of its rows and its columns one after the other. */
final class Table implements Closeable {
    private static final int ROWS_IN_BATCH = 16_384;
    private static final long BYTES_IN_BATCH = 16L << 20;
    private static final int BUFFER = 1 << 16;

    private final Path file;
    private final Vector[] columns;
    private OutputStream out;
    private int rows;
    private long entries;

    Table(Path file, Vector... columns) {
        this.file = file;
        this.columns = columns;
    }

    /** Ends a row, of which each column has got its value. */
    void endRow() throws IOException {
        rows++;
        entries++;
        if (rows == ROWS_IN_BATCH || (rows & 255) == 0 && bytes() > BYTES_IN_BATCH) {
            flush();
        }
    }

    /** How many rows there have been. */
    long entries() {
        return entries;
    }

    private long bytes() {
        long sum = 0;
        for (Vector column : columns) {
            sum += column.bytes();
        }
        return sum;
    }

    private void flush() throws IOException {
        if (rows == 0) {
            return;
        }
        if (out == null) {
            out = new BufferedOutputStream(Files.newOutputStream(file), BUFFER);
        }
        Vector.writeLong(out, rows);
        for (Vector column : columns) {
            column.write(out);
            column.clear();
        }
        Progress.add(rows);
        rows = 0;
    }

    @Override
    public void close() throws IOException {
        flush();
        if (out != null) {
            out.close();
            out = null;
        }
    }
}

package flinkplan.runtime.jdbc;

import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.jdbc.JdbcWriter.Change;
import java.io.Closeable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Rows on their way into a table: they are written when there are as many as go at once, every so often, and when the
 * last one has come.
 */
public final class JdbcBuffer implements Closeable {
    private final JdbcWriter writer;
    private final boolean changelog;
    private final Map<Object, Change> changes = new LinkedHashMap<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "flinkplan-jdbc");
        thread.setDaemon(true);
        return thread;
    });
    private Exception failure;
    private long count;

    /** @param changelog whether the kind of a row stands behind its columns */
    JdbcBuffer(JdbcWriter writer, boolean changelog) {
        this.writer = writer;
        this.changelog = changelog;
        if (writer.intervalMs() > 0) {
            clock.scheduleWithFixedDelay(
                    this::flushInTime, writer.intervalMs(), writer.intervalMs(), TimeUnit.MILLISECONDS);
        }
    }

    /** Takes a row, which may change afterwards. */
    public synchronized void add(InternalRow row) throws IOException {
        check();
        InternalRow own = row.copy();
        byte kind = changelog ? own.getByte(writer.table().type().size()) : Decoder.INSERT;
        changes.put(writer.keys().isEmpty() ? (Object) count : writer.key(own), new Change(kind, own));
        count++;
        if (changes.size() >= writer.rowsAtOnce()) {
            flush();
        }
    }

    /** Writes what is left; returns how many rows have come. */
    public synchronized long finish() throws IOException {
        check();
        flush();
        return count;
    }

    private void flush() throws IOException {
        writer.flush(changes.values());
        changes.clear();
    }

    private synchronized void flushInTime() {
        try {
            if (failure == null) {
                flush();
            }
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
    }

    private void check() throws IOException {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof IOException e) {
            throw e;
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}

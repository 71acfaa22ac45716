package flinkplan.runtime.source;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** Reads rows as they come, until the batch ends. */
public abstract class RealTimeReader implements SupportsRealTimeRead<InternalRow> {
    /** The number that a row has which is none, and only tells that time goes on. */
    protected static final long TICK = -1;

    private static final long MOST = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long BETWEEN_TICKS = TimeUnit.MILLISECONDS.toNanos(50);

    private final InternalRow tick;
    private long next = System.nanoTime();
    private boolean isTick;

    /** @param tick what comes every 50 ms beside the rows; null: nothing */
    protected RealTimeReader(InternalRow tick) {
        this.tick = tick;
    }

    /** Moves to the next row, if it is there. */
    protected abstract boolean advance() throws IOException;

    /** The row. */
    protected abstract InternalRow row();

    /** In how many nanoseconds it is worth while to look again. */
    protected abstract long patience();

    @Override
    public final RecordStatus nextWithTimeout(Long millis) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!ticks() && !advance()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return RecordStatus.newStatusWithoutArrivalTime(false);
            }
            sleep(Math.min(left, Math.min(patience(), tick == null ? MOST : BETWEEN_TICKS)));
        }
        return RecordStatus.newStatusWithoutArrivalTime(true);
    }

    private boolean ticks() {
        isTick = tick != null && System.nanoTime() >= next;
        if (isTick) {
            next = System.nanoTime() + BETWEEN_TICKS;
        }
        return isTick;
    }

    @Override
    public final InternalRow get() {
        return isTick ? tick : row();
    }

    private static void sleep(long nanos) throws IOException {
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    @Override
    public final boolean next() {
        throw new UnsupportedOperationException("rows are waited for");
    }
}

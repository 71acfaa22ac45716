package flinkplan.runtime.source;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** Reads rows as they come, until the batch ends. */
abstract class RealTimeReader implements SupportsRealTimeRead<InternalRow> {
    private static final long MOST = TimeUnit.MILLISECONDS.toNanos(100);

    /** Moves to the next row, if it is there. */
    abstract boolean advance() throws IOException;

    /** In how many nanoseconds it is worth while to look again. */
    abstract long patience();

    @Override
    public final RecordStatus nextWithTimeout(Long millis) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!advance()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return RecordStatus.newStatusWithoutArrivalTime(false);
            }
            sleep(Math.min(left, Math.min(patience(), MOST)));
        }
        return RecordStatus.newStatusWithoutArrivalTime(true);
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

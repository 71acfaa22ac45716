package flinkplan.runtime.batch;

import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Tells the rows that operators emit once bounded input has ended from those before.
 *
 * <p>The end moves the watermark beyond all times, so that all windows fire. Rows that are emitted then have sequence
 * numbers beyond all those before; the numbers are the same as in stream.py.
 */
public final class EndOfInput {
    private static final long MOVED = 1L << 61;
    private static final long FIRST = 1L << 59;

    private EndOfInput() {}

    /** Whether a sequence number is that of a row that comes when input has ended. */
    static boolean isBehind(long sequence) {
        return sequence >= FIRST;
    }

    /** Puts a row behind all that come before the end of input. */
    public static void putBehind(InternalRow row, int sequenceOrdinal) {
        long sequence = row.getLong(sequenceOrdinal);
        if (!isBehind(sequence)) {
            row.update(sequenceOrdinal, sequence + MOVED);
        }
    }
}

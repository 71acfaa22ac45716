package flinkplan.runtime.source;

import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/** The stream of numbers: an offset is the next one. */
final class NumberStream extends RealTimeStream {
    private final long rate;
    private final long count;
    private final boolean ticks;

    NumberStream(long rate, long count, boolean ticks) {
        this.rate = rate;
        this.count = count;
        this.ticks = ticks;
    }

    private static final class Next extends Offset implements PartitionOffset {
        private final long number;

        Next(long number) {
            this.number = number;
        }

        @Override
        public String json() {
            return String.valueOf(number);
        }
    }

    private record From(long number) implements InputPartition {}

    @Override
    public Offset initialOffset() {
        return new Next(0);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Next(Long.parseLong(json));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
        return new InputPartition[] {new From(((Next) start).number)};
    }

    @Override
    protected Offset reached(PartitionOffset offset) {
        return (Next) offset;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        long rate = this.rate;
        long count = this.count;
        boolean ticks = this.ticks;
        return partition -> new Numbers(((From) partition).number(), rate, count, ticks);
    }

    private static final class Numbers extends RealTimeReader {
        private final long first;
        private final long rate;
        private final long count;
        private final long started = System.nanoTime();
        private long next;

        Numbers(long first, long rate, long count, boolean ticks) {
            super(ticks ? new GenericInternalRow(new Object[] {TICK}) : null);
            this.first = first;
            this.rate = rate;
            this.count = count;
            this.next = first;
        }

        @Override
        protected boolean advance() {
            return next < count && System.nanoTime() >= due() && next++ >= 0;
        }

        @Override
        protected long patience() {
            return next < count ? due() - System.nanoTime() : Long.MAX_VALUE;
        }

        private long due() {
            return started + (long) ((next - first) * (double) TimeUnit.SECONDS.toNanos(1) / rate);
        }

        @Override
        protected InternalRow row() {
            return new GenericInternalRow(new Object[] {next - 1});
        }

        @Override
        public PartitionOffset getOffset() {
            return new Next(next);
        }

        @Override
        public void close() {}
    }
}

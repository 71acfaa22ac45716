package flinkplan.runtime.watermark;

/** Flink's times where Spark's watermark is compared with them; both numbers stand in event_time.py, too. */
public final class SparkTime {
    /** Added to every time, so that none is before Spark's first watermark. */
    public static final long SHIFT = 70_000_000_000_000L;

    /** Spark's watermark when all input has ended; no row is as late. */
    public static final long END = 1_000_000_000_000_000L;

    private SparkTime() {}

    /** When Spark is to call back for a time, at the latest as input ends. */
    public static long timer(long time) {
        return Math.min(time, END - SHIFT) + SHIFT;
    }

    /** Flink's watermark at one of Spark's; behind all times when input has ended. */
    public static long watermark(long spark) {
        return spark >= END ? Long.MAX_VALUE : spark - SHIFT;
    }
}

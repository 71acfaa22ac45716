package flinkplan.runtime.state;

import java.time.Duration;
import org.apache.spark.sql.streaming.TTLConfig;

/**
 * The TTL of a state that is written later than it was changed: it counts from the change on.
 *
 * <p>Spark adds the duration to the time at which it writes.
 */
final class Lifetime extends TTLConfig {
    private static final long serialVersionUID = 1L;
    private static final long NEVER = Long.MAX_VALUE;

    private final long ttl;
    private long end = NEVER;

    /** @param ttl milliseconds; 0 = for ever */
    Lifetime(long ttl) {
        super(Duration.ofMillis(ttl));
        this.ttl = ttl;
    }

    /** Milliseconds since 1970. */
    static long now() {
        return System.currentTimeMillis();
    }

    /** Whether it ends at all. */
    boolean isLimited() {
        return ttl > 0;
    }

    /** When what changes now expires: milliseconds since 1970. */
    long end() {
        return isLimited() ? now() + ttl : NEVER;
    }

    /** Says when that expires which Spark is to write next. */
    void endsAt(long end) {
        this.end = end;
    }

    @Override
    public Duration ttlDuration() {
        return end == NEVER ? super.ttlDuration() : Duration.ofMillis(Math.max(1, end - now()));
    }
}

package flinkplan.runtime.functions;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.TimeZone;
import org.apache.spark.unsafe.types.UTF8String;

/** Wall clocks of a time zone, counted in milliseconds as if they were UTC, and instants. */
public final class Zones {
    private static final long HOUR = 3_600_000L;

    private Zones() {}

    /** The wall clock of an instant. */
    public static long toLocal(long instant, UTF8String zone) {
        return LocalDateTime.ofInstant(Instant.ofEpochMilli(instant), ZoneId.of(zone.toString()))
                .toInstant(ZoneOffset.UTC)
                .toEpochMilli();
    }

    /** The instant of a wall clock. */
    public static long toInstant(long local, UTF8String zone) {
        return wallClock(local).atZone(ZoneId.of(zone.toString())).toInstant().toEpochMilli();
    }

    /**
     * The instant at which a timer set to a wall clock goes off.
     *
     * <p>A wall clock that comes twice (summer time ends) means the second time; one that is skipped (summer time
     * begins) means the hour of the leap.
     */
    public static long toTimer(long local, UTF8String zone) {
        ZoneId id = ZoneId.of(zone.toString());
        LocalDateTime clock = wallClock(local);
        long instant = clock.atZone(id).toInstant().toEpochMilli();
        if (!TimeZone.getTimeZone(id).useDaylightTime()) {
            return instant;
        }
        long hourLater = clock.plusHours(1).atZone(id).toInstant().toEpochMilli();
        if (hourLater - instant > HOUR) {
            return instant + HOUR;
        }
        return hourLater == instant ? instant - Math.floorMod(instant, HOUR) : instant;
    }

    private static LocalDateTime wallClock(long local) {
        return LocalDateTime.ofInstant(Instant.ofEpochMilli(local), ZoneOffset.UTC);
    }
}

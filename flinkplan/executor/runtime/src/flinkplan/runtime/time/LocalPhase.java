package flinkplan.runtime.time;

import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.functions.Zones;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;
import java.util.TimeZone;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Which rows of one partition Flink's local aggregation in windows would fold together.
 *
 * <p>As Flink does it: rows are gathered until the watermark has come to the end of a slice, and has passed that of one
 * of the slices of these rows. Then all go on. Each task has its own, deserialized with its code.
 */
public final class LocalPhase implements Serializable {
    private final long interval;
    private final UTF8String zone;
    private long current;
    private long trigger;
    private long earliest = Long.MAX_VALUE;
    private long first;

    private LocalPhase(long interval, String zone) {
        this.interval = interval;
        boolean shifts = zone != null && TimeZone.getTimeZone(zone).useDaylightTime();
        this.zone = shifts ? UTF8String.fromString(zone) : null;
    }

    /**
     * A column of the sequence number (BIGINT) of the first of the rows that are folded together with a row.
     *
     * @param watermark the watermark (BIGINT, milliseconds) when the row came
     * @param due the instant (BIGINT, milliseconds) at which the row's slice ends
     * @param sequence the row's sequence number
     * @param interval the distance of the ends of slices
     * @param zone whose wall clock windows follow; null: UTC
     */
    public static Column parts(Column watermark, Column due, Column sequence, long interval, String zone) {
        List<Column> arguments = List.of(watermark, due, sequence);
        List<DataType> types = Collections.nCopies(3, DataTypes.LongType);
        return MethodCall.stateful(new LocalPhase(interval, zone), "part", DataTypes.LongType, arguments, types);
    }

    /** Called for each row, in order. */
    public long part(long watermark, long due, long sequence) {
        if (watermark > current) {
            current = watermark;
            if (current >= trigger) {
                trigger = next();
                earliest = earliest <= current ? Long.MAX_VALUE : earliest;
            }
        }
        if (earliest == Long.MAX_VALUE) {
            first = sequence;
        }
        earliest = Math.min(earliest, due);
        return first;
    }

    /** The next instant after the watermark at which a slice may end. */
    private long next() {
        long local = zone == null ? current : Zones.toLocal(current, zone);
        long last = local - Math.floorMod(local, interval) + interval - 1;
        long instant = zone == null ? last : Zones.toTimer(last, zone);
        return instant > current ? instant : instant + interval;
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.functions.Zones;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The windows of rows whose columns {@code start} and {@code end} bound them, in milliseconds of the wall clock of
 * {@code zone} (null: UTC).
 *
 * @param session whether they are the windows of single rows, of which those that touch are one
 */
public record WindowSpan(int start, int end, boolean session, String zone) implements Serializable {

    /** A window and the rows in it. */
    record Window(long start, long end, List<InternalRow> rows) {}

    /** The instant at which a window fires. */
    long fires(long windowEnd) {
        return zone == null ? windowEnd - 1 : Zones.toTimer(windowEnd - 1, UTF8String.fromString(zone));
    }

    long fires(InternalRow row) {
        return fires(row.getLong(end));
    }

    long start(InternalRow row) {
        return row.getLong(start);
    }

    long end(InternalRow row) {
        return row.getLong(end);
    }

    /** Whether a row of a session touches the window of one of {@code others}. */
    boolean touchesAny(InternalRow row, List<InternalRow> others) {
        return others.stream()
                .anyMatch(o -> o.getLong(start) <= row.getLong(end) && row.getLong(start) <= o.getLong(end));
    }

    /** The windows of rows, by their ends. */
    List<Window> windows(List<InternalRow> rows) {
        List<Window> windows = session ? sessions(rows) : fixed(rows);
        windows.sort(Comparator.comparingLong(Window::end));
        return windows;
    }

    private List<Window> fixed(List<InternalRow> rows) {
        Map<List<Long>, Window> windows = new LinkedHashMap<>();
        for (InternalRow row : rows) {
            long from = row.getLong(start), to = row.getLong(end);
            windows.computeIfAbsent(List.of(from, to), bounds -> new Window(from, to, new ArrayList<>()))
                    .rows()
                    .add(row);
        }
        return new ArrayList<>(windows.values());
    }

    /** The sessions of rows, each with its rows in the order given. */
    private List<Window> sessions(List<InternalRow> rows) {
        List<InternalRow> byTime = new ArrayList<>(rows);
        byTime.sort(Comparator.comparingLong(row -> row.getLong(start)));
        TreeMap<Long, Window> sessions = new TreeMap<>();
        Window last = null;
        for (InternalRow row : byTime) {
            long from = row.getLong(start), to = row.getLong(end);
            boolean isNew = last == null || from > last.end();
            last = isNew
                    ? new Window(from, to, new ArrayList<>())
                    : new Window(last.start(), Math.max(last.end(), to), last.rows());
            sessions.put(last.start(), last);
        }
        for (InternalRow row : rows) {
            sessions.floorEntry(row.getLong(start)).getValue().rows().add(row);
        }
        return new ArrayList<>(sessions.values());
    }
}

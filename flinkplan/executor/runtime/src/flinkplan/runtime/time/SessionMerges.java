package flinkplan.runtime.time;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The order in which the values of a session stand in Flink, where a row that comes between two sessions makes them
 * one: those of one session, those of the other, and then the row.
 */
final class SessionMerges {
    /** Buckets of the hash set in which Flink looks at the two. */
    private static final int BUCKETS = 16;

    /** How they come out of it: of two in one bucket the later one, which is put into the set first. */
    private static final Comparator<Session> AS_FOUND =
            Comparator.comparingInt(Session::bucket).thenComparing(Session::start, Comparator.reverseOrder());

    private final WindowSpan span;
    private List<Session> sessions = new ArrayList<>();

    private record Session(long start, long end, List<InternalRow> rows) {
        boolean touches(long from, long to) {
            return start <= to && from <= end;
        }

        /** The place in Flink's hash set: its window's hash is the start and an odd number's inverse modulo 2^32. */
        int bucket() {
            int odd = (int) (end << 1) + 1, inverse = odd * odd * odd;
            for (int step = 0; step < 3; step++) {
                inverse *= 2 - odd * inverse;
            }
            int hash = (int) (start + inverse);
            return (hash ^ hash >>> 16) & BUCKETS - 1;
        }
    }

    private SessionMerges(WindowSpan span) {
        this.span = span;
    }

    /** The rows of one session, given in the order they came. */
    static List<InternalRow> inOrder(List<InternalRow> rows, WindowSpan span) {
        SessionMerges merges = new SessionMerges(span);
        rows.forEach(merges::add);
        return merges.sessions.get(0).rows;
    }

    private void add(InternalRow row) {
        long start = span.start(row), end = span.end(row);
        List<Session> touched = new ArrayList<>(), apart = new ArrayList<>();
        for (Session session : sessions) {
            (session.touches(start, end) ? touched : apart).add(session);
        }
        touched.sort(AS_FOUND);
        List<InternalRow> rows = touched.isEmpty() ? new ArrayList<>() : touched.get(0).rows;
        for (Session session : touched) {
            start = Math.min(start, session.start);
            end = Math.max(end, session.end);
            if (session.rows != rows) {
                rows.addAll(session.rows);
            }
        }
        rows.add(row);
        apart.add(new Session(start, end, rows));
        sessions = apart;
    }
}

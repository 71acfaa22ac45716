package flinkplan.runtime.rank;

import flinkplan.runtime.row.Reused;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BaseOrdering;

/**
 * The rows of the partition at work, in their order: those that stand in memory, and where they are kept.
 *
 * <p>A row is found by its key, which is its content or a primary key, and may be there several times. Rows that are
 * equal in the order stand as they have arrived.
 */
abstract class PartitionRows {
    /** The number of a row of an earlier micro-batch. */
    static final long BEFORE = Long.MIN_VALUE;

    private final BaseOrdering ordering;
    private final TreeSet<Occurrence> sorted;
    private Map<InternalRow, Entry> entries = new HashMap<>();
    private long arrivals;

    /** A row at one of its places, and the number it has come there with. */
    record Occurrence(InternalRow key, InternalRow row, long arrival, long number) {}

    /** A row, and when it has arrived, the earliest first. */
    record Entry(InternalRow row, Deque<Long> arrivals) {
        Entry(InternalRow row) {
            this(row, new ArrayDeque<>(1));
        }

        long first() {
            return arrivals.getFirst();
        }

        private void leave(long arrival) {
            if (arrivals.getLast() == arrival) {
                arrivals.removeLast();
            } else {
                arrivals.removeFirstOccurrence(arrival);
            }
        }

        long[] toArray() {
            return arrivals.stream().mapToLong(Long::longValue).toArray();
        }
    }

    PartitionRows(BaseOrdering ordering) {
        this.ordering = ordering;
        this.sorted = new TreeSet<>(order());
    }

    /** The order of rows, and of such as are equal in it. */
    final Comparator<Occurrence> order() {
        return Comparator.comparing(Occurrence::row, ordering).thenComparingLong(Occurrence::arrival);
    }

    /** Turns to a partition. */
    final void begin() {
        sorted.clear();
        entries = Reused.emptied(entries, HashMap::new);
        arrivals = 0;
        read();
    }

    /** Places what is kept of the partition. */
    abstract void read();

    /** Writes what has changed. */
    abstract void flush();

    /** Adds a row that came with a number; no row of its key that is updated in place is there. */
    void add(InternalRow key, InternalRow row, long number) {
        add(key, row, arrivals, number);
    }

    /** Adds a row in the place that it left, among those that are equal in the order. */
    void add(InternalRow key, InternalRow row, long arrival, long number) {
        place(key, row, arrival, number);
    }

    /** Removes a row, where it arrived first; nothing if it is not there. */
    void remove(InternalRow key) {
        Entry entry = entries.get(key);
        if (entry != null) {
            leave(key, entry.first());
        }
    }

    /** Removes a row that can never come into the ranking again. */
    void forget(Occurrence occurrence) {
        leave(occurrence.key, occurrence.arrival);
    }

    /** The first rows, at least as many as asked for if the partition has them. */
    SortedSet<Occurrence> first(long count) {
        return sorted;
    }

    /** The rows in memory. */
    final TreeSet<Occurrence> sorted() {
        return sorted;
    }

    /** The row in memory that has this key, or null. */
    final Entry find(InternalRow key) {
        return entries.get(key);
    }

    /** Whether a row that came now would stand behind all in memory. */
    final boolean isBehind(InternalRow row) {
        return !sorted.isEmpty() && ordering.compare(sorted.last().row, row) <= 0;
    }

    /** Whether two rows are equal in the order. */
    final boolean areEqual(InternalRow one, InternalRow other) {
        return ordering.compare(one, other) == 0;
    }

    /** What the next row to arrive is numbered with. */
    final long arrivals() {
        return arrivals;
    }

    /** Says that so many rows have arrived. */
    final void arrived(long count) {
        arrivals = Math.max(arrivals, count);
    }

    final void place(InternalRow key, InternalRow row, long arrival, long number) {
        Entry entry = entries.computeIfAbsent(key, absent -> new Entry(row));
        entry.arrivals.add(arrival);
        sorted.add(new Occurrence(key, entry.row, arrival, number));
        arrived(arrival + 1);
    }

    final void leave(InternalRow key, long arrival) {
        Entry entry = entries.get(key);
        sorted.remove(new Occurrence(key, entry.row, arrival, BEFORE));
        entry.leave(arrival);
        if (entry.arrivals.isEmpty()) {
            entries.remove(key);
        }
    }
}

package flinkplan.runtime.rank;

import flinkplan.runtime.row.Reused;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SortedSet;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * A partition whose first rows stand in one value, and in memory, the others in the map. Those are read only when too
 * many of the first rows are gone, so that a micro-batch costs what it changes.
 */
final class FirstRows extends PartitionRows {
    private final RankState state;
    private final int kept;
    private final int slack;
    private Map<InternalRow, Entry> touched = new HashMap<>();
    private long others;
    private boolean anyStored;
    private boolean changed;

    /** @param wanted how many rows the ranking can have */
    FirstRows(RankState state, int wanted) {
        super(state.ordering());
        this.state = state;
        this.slack = Math.min(Math.max(wanted, 16), 128);
        this.kept = wanted + slack;
    }

    @Override
    void read() {
        touched = Reused.emptied(touched, HashMap::new);
        changed = false;
        InternalRow first = state.first().get();
        others = first == null ? 0 : state.placeFirst(first, this);
        anyStored = first == null || others > 0;
        if (first == null) { // all may be in the map, as without a TTL they were before, and with one they are
            fill();
            anyStored = changed;
        }
    }

    @Override
    void add(InternalRow key, InternalRow row, long arrival, long number) {
        changed = true;
        if (others > 0 && sorted().isEmpty()) {
            fill();
        }
        if (others > 0 && isBehind(row)) {
            moveBehind(key, row, arrival);
            arrived(arrival + 1);
            return;
        }
        super.add(key, row, arrival, number);
        if (sorted().size() > kept + slack) {
            while (sorted().size() > kept) {
                Occurrence last = sorted().last();
                forget(last);
                moveBehind(last.key(), last.row(), last.arrival());
            }
        }
    }

    @Override
    void remove(InternalRow key) {
        if (find(key) != null) {
            super.remove(key);
            changed = true;
        } else if (others > 0) {
            Entry entry = behind(key, null);
            if (entry != null && !entry.arrivals().isEmpty()) {
                entry.arrivals().removeFirst();
                others--;
                changed = true;
            }
        }
    }

    @Override
    void forget(Occurrence occurrence) {
        super.forget(occurrence);
        changed = true;
    }

    @Override
    SortedSet<Occurrence> first(long count) {
        if (others > 0 && sorted().size() < count) {
            fill();
        }
        return sorted();
    }

    @Override
    void flush() {
        touched.forEach((key, entry) -> {
            if (!entry.arrivals().isEmpty()) {
                state.put(key, entry);
            } else if (anyStored) {
                state.map().removeKey(key);
            }
        });
        if (changed && others == 0 && sorted().isEmpty()) {
            state.first().clear();
        } else if (changed) {
            state.putFirst(this, others);
        }
    }

    private void moveBehind(InternalRow key, InternalRow row, long arrival) {
        Entry entry = behind(key, row);
        if (entry.arrivals().isEmpty() || entry.arrivals().getLast() < arrival) {
            entry.arrivals().addLast(arrival);
        } else {
            entry.arrivals().addFirst(arrival);
        }
        others++;
    }

    /** The entry of a key behind the first rows, to be changed; one of {@code row} if there is none. */
    private Entry behind(InternalRow key, InternalRow row) {
        Entry entry = touched.get(key);
        if (entry == null) {
            InternalRow value = anyStored ? state.map().getValue(key) : null;
            if (value == null && row == null) {
                return null;
            }
            entry = value == null ? new Entry(row) : state.entry(value);
            touched.put(key, entry);
        }
        return entry;
    }

    /** Brings the first of the others into memory. */
    private void fill() {
        int room = kept - sorted().size();
        PriorityQueue<Occurrence> nearest = new PriorityQueue<>(order().reversed());
        others = 0;
        if (anyStored) {
            for (Iterator<Tuple2<InternalRow, InternalRow>> all = state.map().iterator(); all.hasNext(); ) {
                Tuple2<InternalRow, InternalRow> next = all.next();
                if (!touched.containsKey(next._1())) {
                    consider(next._1(), state.entry(next._2()), nearest, room);
                }
            }
        }
        touched.forEach((key, entry) -> consider(key, entry, nearest, room));
        List<Occurrence> found = nearest.stream().sorted(order()).toList();
        for (Occurrence occurrence : found) {
            behind(occurrence.key(), occurrence.row()).arrivals().removeFirst();
            place(occurrence.key(), occurrence.row(), occurrence.arrival(), BEFORE);
            changed = true;
        }
        others -= found.size();
    }

    private void consider(InternalRow key, Entry entry, PriorityQueue<Occurrence> nearest, int room) {
        for (long arrival : entry.arrivals()) {
            nearest.add(new Occurrence(key, entry.row(), arrival, BEFORE));
            if (nearest.size() > room) {
                nearest.poll();
            }
        }
        others += entry.arrivals().size();
    }
}

package flinkplan.runtime.rank;

import flinkplan.runtime.row.Reused;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Tuple2;
import scala.collection.Iterator;

/** A partition whose rows all stand in the map, where each can expire by itself, and all in memory. */
final class MappedRows extends PartitionRows {
    private final RankState state;
    private Set<InternalRow> stored = new HashSet<>();
    private Set<InternalRow> changed = new HashSet<>();
    private boolean hasFirst;

    MappedRows(RankState state) {
        super(state.ordering());
        this.state = state;
    }

    @Override
    void read() {
        stored = Reused.emptied(stored, HashSet::new);
        changed = Reused.emptied(changed, HashSet::new);
        InternalRow first = state.first().get();
        hasFirst = first != null;
        if (hasFirst) {
            state.placeFirst(first, this);
            sorted().forEach(occurrence -> changed.add(occurrence.key()));
        }
        for (Iterator<Tuple2<InternalRow, InternalRow>> all = state.map().iterator(); all.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> next = all.next();
            stored.add(next._1());
            Entry entry = state.entry(next._2());
            entry.arrivals().forEach(arrival -> place(next._1(), entry.row(), arrival, BEFORE));
        }
    }

    @Override
    void add(InternalRow key, InternalRow row, long arrival, long number) {
        super.add(key, row, arrival, number);
        changed.add(key);
    }

    @Override
    void remove(InternalRow key) {
        super.remove(key);
        changed.add(key);
    }

    @Override
    void forget(Occurrence occurrence) {
        super.forget(occurrence);
        changed.add(occurrence.key());
    }

    @Override
    void flush() {
        for (InternalRow key : changed) {
            Entry entry = find(key);
            if (entry != null) {
                state.put(key, entry);
            } else if (stored.contains(key)) {
                state.map().removeKey(key);
            }
        }
        if (hasFirst) {
            state.first().clear();
        }
    }
}

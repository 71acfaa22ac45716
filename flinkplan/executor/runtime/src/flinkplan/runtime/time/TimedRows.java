package flinkplan.runtime.time;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/** The rows of one key by their times, in the order they came: a map state, written where it has changed. */
public final class TimedRows {
    private static final StructType TIME = new StructType().add("time", DataTypes.LongType, false);

    private final MapState<InternalRow, InternalRow> state;
    private final int width;
    private final TreeMap<Long, List<InternalRow>> rows = new TreeMap<>();
    private final Set<Long> changed = new HashSet<>();
    private boolean isNew;
    private boolean complete;

    public TimedRows(TimedKernel kernel, String name, StructType row) {
        state = kernel.mapState(name, TIME, new StructType().add("rows", DataTypes.createArrayType(row, false)), 0);
        width = row.length();
    }

    /** Begins on a key; {@code empty}: it is known to have no rows. */
    public void begin(boolean empty) {
        rows.clear();
        changed.clear();
        isNew = empty;
        complete = empty;
    }

    /** All rows by time; an entry whose rows are changed must be told of by {@link #touch}. */
    public TreeMap<Long, List<InternalRow>> all() {
        if (!complete) {
            complete = true;
            for (Iterator<Tuple2<InternalRow, InternalRow>> stored = state.iterator(); stored.hasNext(); ) {
                Tuple2<InternalRow, InternalRow> entry = stored.next();
                long time = entry._1().getLong(0);
                if (!changed.contains(time)) {
                    rows.put(time, read(entry._2()));
                }
            }
        }
        return rows;
    }

    /** Adds a row behind those of its time. */
    public void add(long time, InternalRow row) {
        rows.computeIfAbsent(time, this::load).add(row);
        changed.add(time);
    }

    /** Makes a row the only one of its time. */
    public void put(long time, InternalRow row) {
        rows.put(time, new ArrayList<>(List.of(row)));
        changed.add(time);
    }

    /** Removes the rows of a time. */
    public void remove(long time) {
        rows.remove(time);
        if (isNew) {
            changed.remove(time); // nothing has been stored
        } else {
            changed.add(time);
        }
    }

    /** Says that rows of a time have been changed in place. */
    public void touch(long time) {
        changed.add(time);
    }

    /** Writes what has changed. */
    public void flush() {
        for (long time : changed) {
            List<InternalRow> kept = rows.get(time);
            if (kept == null || kept.isEmpty()) {
                state.removeKey(Rows.of(time));
            } else {
                state.updateValue(Rows.of(time), Rows.of(new GenericArrayData(kept.toArray())));
            }
        }
        changed.clear();
    }

    private List<InternalRow> load(long time) {
        InternalRow stored = complete ? null : state.getValue(Rows.of(time));
        return stored == null ? new ArrayList<>() : read(stored);
    }

    private List<InternalRow> read(InternalRow stored) {
        ArrayData array = stored.getArray(0);
        List<InternalRow> read = new ArrayList<>(array.numElements());
        for (int i = 0; i < array.numElements(); i++) {
            read.add(array.getStruct(i, width));
        }
        return read;
    }
}

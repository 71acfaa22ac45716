package flinkplan.runtime.time;

import flinkplan.runtime.pattern.MatchedRow;
import flinkplan.runtime.pattern.Matches;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.RowOrder;
import flinkplan.runtime.row.Rows;
import flinkplan.runtime.watermark.SparkTime;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Looks for a pattern among rows: in the order of their times, once the watermark has reached them, or as they come.
 *
 * <p>The input's columns are the key, the time (ms), and one struct of what is read of the row. Each match emits what
 * its measures read, and the time at which it was found.
 */
public final class MatchRecognize extends TimedKernel {
    private static final StructType NUMBER = new StructType().add("number", DataTypes.LongType, false);

    private final Spec spec;
    private final int timeOrdinal;
    private final int rowOrdinal;

    private transient TimedRows waiting;
    private transient ValueState<InternalRow> saved;
    private transient MapState<InternalRow, InternalRow> rows;
    private transient Matches matches;
    private transient boolean isRead;
    private transient Set<Long> stored;
    private transient long sequence;

    /**
     * What there is to know of it beside its input.
     *
     * @param row the schema of the struct
     * @param columns the schema of what is emitted
     * @param rowOrder the order of rows of one time; null: as they came
     */
    public record Spec(StructType row, StructType columns, Matches.Pattern pattern, RowOrder rowOrder)
            implements Serializable {}

    public MatchRecognize(StructType input, Spec spec) {
        super(input, spec.columns, false);
        this.spec = spec;
        this.timeOrdinal = input.fieldIndex(Hidden.TIME);
        this.rowOrdinal = input.fieldIndex(Hidden.ROW);
    }

    @Override
    protected void open() {
        waiting = new TimedRows(this, "rows", spec.row());
        saved = valueState("matches", Matches.SAVED, 0);
        StructType row = new StructType().add("time", DataTypes.LongType, false).add("row", spec.row(), false);
        rows = mapState("matched", NUMBER, row, 0);
        matches = spec.pattern().open();
    }

    @Override
    protected String timeColumn() {
        return Hidden.TIME;
    }

    private boolean goesByClock() {
        return timeMode().equals(TimeMode.ProcessingTime());
    }

    @Override
    protected void begin(InternalRow key) {
        waiting.begin(!isWaiting());
        isRead = false;
    }

    /** Reads the matches, where nothing has been done with them yet. */
    private void read() {
        if (isRead) {
            return;
        }
        isRead = true;
        stored = new HashSet<>();
        InternalRow state = saved.get();
        if (state == null) {
            matches.begin();
            return;
        }
        Map<Long, MatchedRow> read = new HashMap<>();
        for (Iterator<Tuple2<InternalRow, InternalRow>> all = rows.iterator(); all.hasNext(); ) {
            Tuple2<InternalRow, InternalRow> entry = all.next();
            long number = entry._1().getLong(0);
            InternalRow values = entry._2().getStruct(1, spec.row().length());
            read.put(number, new MatchedRow(number, entry._2().getLong(0), values));
        }
        stored.addAll(read.keySet());
        matches.begin(state, read);
    }

    @Override
    protected long accept(InternalRow input, byte kind, long watermark) {
        InternalRow row = input.getStruct(rowOrdinal, spec.row().length());
        if (!goesByClock()) {
            long time = input.getLong(timeOrdinal);
            if (time <= watermark) {
                return drop(watermark - time);
            }
            waiting.add(time, row);
            return time;
        }
        sequence = sequence(input);
        if (spec.rowOrder() != null) {
            waiting.add(clock(), row);
            return clock();
        }
        read();
        matches.advance(clock(), this::emit);
        matches.process(row, clock(), this::emit);
        return matches.deadline();
    }

    @Override
    protected long fire(long watermark) {
        read();
        long first = due();
        // what one move of the watermark passes of a key comes out together; it moves far at the end alone
        boolean together = watermark >= SparkTime.END - SparkTime.SHIFT;
        TreeMap<Long, List<InternalRow>> all = waiting.all();
        long next = first(all);
        while (Math.min(next, matches.deadline()) <= watermark) {
            if (!goesByClock()) {
                sequence = together ? first : Math.min(next, matches.deadline());
            }
            if (matches.deadline() < next) { // as if the watermark did not leap, so that it matters not how it moves
                matches.advance(matches.deadline(), this::emit);
            } else {
                process(next, all.get(next));
                next = first(all);
            }
        }
        return Math.min(next, matches.deadline());
    }

    private static long first(TreeMap<Long, List<InternalRow>> rows) {
        return rows.isEmpty() ? NEVER : rows.firstKey();
    }

    private void process(long time, List<InternalRow> rows) {
        List<InternalRow> ready = new ArrayList<>(rows);
        if (spec.rowOrder() != null) {
            ready.sort(spec.rowOrder());
        }
        matches.advance(time, this::emit);
        for (InternalRow row : ready) {
            matches.process(row, time, this::emit);
        }
        waiting.remove(time);
    }

    private void emit(InternalRow values) {
        emit(RowKind.INSERT, values, sequence);
    }

    @Override
    protected void store() {
        waiting.flush();
        if (!isRead) {
            return;
        }
        Map<Long, MatchedRow> live = Matches.noRows();
        InternalRow state = matches.save(live);
        if (state != null) {
            saved.update(state);
        } else if (saved.exists()) {
            saved.clear();
        }
        for (long number : stored) {
            if (!live.containsKey(number)) {
                rows.removeKey(Rows.of(number));
            }
        }
        for (MatchedRow row : live.values()) {
            if (!stored.contains(row.number())) {
                rows.updateValue(Rows.of(row.number()), Rows.of(row.time(), row.values()));
            }
        }
    }
}

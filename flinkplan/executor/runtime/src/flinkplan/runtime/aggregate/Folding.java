package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;

/**
 * The groups of one task, as far as its rows fold them: how many rows, what each call saves of them, the latest watermark
 * that they came behind, if they carry it, and the last of their sequence numbers.
 */
final class Folding {
    /** The most groups that are held at a time. */
    private static final int CAPACITY = 1 << 18;

    /** With fewer rows than this for each group, on average, it costs more to look a group up than it saves. */
    private static final int WORTHWHILE = 2;

    /** After so many rows it is judged by those whose group was there whether as many as are held would be worthwhile. */
    private static final int SAMPLE = 1 << 14;

    /** Where keys are equally frequent, {@link #CAPACITY} rows are of half as many groups if one in so many is repeated. */
    private static final int REPEATED = 20;

    /** A group; its accumulators are shared by all and hold the group at work only. */
    private static final class Group {
        final InternalRow key;
        final Object[] saved;
        long rows;
        Long watermark;
        long sequence = Long.MIN_VALUE;

        Group(InternalRow key, int calls) {
            this.key = key;
            this.saved = new Object[calls];
        }
    }

    private final Call[] calls;
    private final int watermark;
    private final Map<InternalRow, Group> groups = new HashMap<>();
    private long rows;
    private boolean passesOn;

    /** @param watermark the column of the watermark that a row came behind; -1: there is none */
    Folding(Call[] calls, int watermark) {
        this.calls = calls;
        this.watermark = watermark;
        for (Call call : calls) {
            call.function().open(null, call.name(), 0);
        }
    }

    /** Takes a row in, which is kept unless it {@link #passesOn}; what is to go on at once. */
    List<InternalRow> add(InternalRow key, InternalRow row, long sequence) {
        if (passesOn) {
            Group alone = new Group(key, calls.length);
            add(alone, row, sequence);
            return List.of(output(alone));
        }
        rows++;
        boolean isTooSeldom = rows == SAMPLE && (rows - groups.size()) * REPEATED < rows;
        Group group = groups.get(key);
        if (group == null) {
            InternalRow kept = key.copy();
            group = new Group(kept, calls.length);
            groups.put(kept, group);
        }
        add(group, row, sequence);
        return groups.size() < CAPACITY && !isTooSeldom ? List.of() : drain();
    }

    /** Whether what is added next goes on at once, so that nothing of it is kept. */
    boolean passesOn() {
        return passesOn;
    }

    private void add(Group group, InternalRow row, long sequence) {
        for (int i = 0; i < calls.length; i++) {
            Accumulator function = calls[i].function();
            function.begin(true);
            if (group.rows == 0) {
                function.reset();
            } else {
                function.load((InternalRow) group.saved[i]);
            }
            if (calls[i].accepts(row)) {
                function.add(row);
            }
            group.saved[i] = function.save();
        }
        group.rows++;
        group.sequence = Math.max(group.sequence, sequence);
        if (watermark >= 0 && !row.isNullAt(watermark)) {
            long before = row.getLong(watermark);
            group.watermark = group.watermark == null ? before : Math.max(group.watermark, before);
        }
    }

    /** What has been folded; nothing is left. */
    List<InternalRow> drain() {
        List<InternalRow> folded = new ArrayList<>(groups.size());
        groups.values().forEach(group -> folded.add(output(group)));
        passesOn = rows < (long) WORTHWHILE * groups.size();
        rows = 0;
        groups.clear();
        return folded;
    }

    private InternalRow output(Group group) {
        Object[] values = new Object[group.saved.length + (watermark < 0 ? 2 : 3)];
        values[0] = group.rows;
        System.arraycopy(group.saved, 0, values, 1, group.saved.length);
        if (watermark >= 0) {
            values[values.length - 2] = group.watermark;
        }
        values[values.length - 1] = group.sequence;
        return new JoinedRow(group.key, Rows.of(values));
    }
}

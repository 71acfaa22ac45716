package flinkplan.runtime.pattern;

import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The matches of a key that have begun, and how they go on with each row.
 *
 * <p>Matches are looked at in the order in which Flink does, which is that of its heap: by that goes which of several
 * that begin with the same row comes out.
 */
public final class Matches {
    private static final StructType STEP = new StructType()
            .add("variable", DataTypes.IntegerType, false)
            .add("row", DataTypes.LongType, false)
            .add("parent", DataTypes.IntegerType, false);
    private static final StructType MATCH = new StructType()
            .add("state", DataTypes.IntegerType, false)
            .add("last", DataTypes.IntegerType, false);

    /** What {@link #save} writes. */
    public static final StructType SAVED = new StructType()
            .add("steps", DataTypes.createArrayType(STEP, false), false)
            .add("partial", DataTypes.createArrayType(MATCH, false), false)
            .add("complete", DataTypes.createArrayType(MATCH, false), false);

    private static final int NONE = -1;

    private final Pattern pattern;
    private final Automaton automaton;

    private PriorityQueue<PartialMatch> partial;
    private PriorityQueue<PartialMatch> complete;
    private long next;

    /**
     * What is looked for.
     *
     * @param within how long a match may last (ms); 0: as long as it may
     */
    public record Pattern(Variable[] variables, Skip skip, long within, Leaves measures) implements Serializable {
        /** Compiles the expressions. */
        public Matches open() {
            int places = measures.aggregations();
            for (Variable variable : variables) {
                places += variable.leaves().aggregations();
            }
            measures.open(0, places);
            int place = measures.aggregations();
            for (Variable variable : variables) {
                variable.leaves().open(place, places);
                place += variable.leaves().aggregations();
            }
            return new Matches(this);
        }
    }

    private Matches(Pattern pattern) {
        this.pattern = pattern;
        automaton = new Automaton(pattern.variables());
    }

    /** Begins on a key that has no matches. */
    public void begin() {
        partial = queue();
        partial.add(new PartialMatch(automaton.start(), null));
        complete = queue();
        next = 0;
    }

    private static PriorityQueue<PartialMatch> queue() {
        return new PriorityQueue<>(PartialMatch.ORDER);
    }

    /** Begins on a key with what was saved, and the rows that this refers to by their numbers. */
    public void begin(InternalRow saved, Map<Long, MatchedRow> rows) {
        ArrayData stored = saved.getArray(0);
        List<Step> steps = new ArrayList<>(stored.numElements());
        for (int i = 0; i < stored.numElements(); i++) {
            InternalRow step = stored.getStruct(i, STEP.length());
            int parent = step.getInt(2);
            steps.add(new Step(step.getInt(0), rows.get(step.getLong(1)), parent == NONE ? null : steps.get(parent)));
        }
        partial = read(saved.getArray(1), steps);
        complete = read(saved.getArray(2), steps);
        next = rows.keySet().stream().mapToLong(number -> number + 1).max().orElse(0);
    }

    private PriorityQueue<PartialMatch> read(ArrayData stored, List<Step> steps) {
        PriorityQueue<PartialMatch> read = queue();
        for (int i = 0; i < stored.numElements(); i++) {
            InternalRow match = stored.getStruct(i, MATCH.length());
            int last = match.getInt(1);
            read.add(new PartialMatch(automaton.state(match.getInt(0)), last == NONE ? null : steps.get(last)));
        }
        return read;
    }

    /** Ends the matches that have lasted too long at a time; those that have waited for them are emitted. */
    public void advance(long time, Consumer<InternalRow> emit) {
        if (deadline() > time) {
            return;
        }
        PriorityQueue<PartialMatch> left = queue();
        for (PartialMatch match : partial) {
            if (match.last() == null || time - match.startTime() < pattern.within()) {
                left.add(match);
            }
        }
        partial = left;
        settle(List.of(), time, emit);
    }

    /** Goes on with a row of a time. */
    public void process(InternalRow values, long time, Consumer<InternalRow> emit) {
        MatchedRow row = new MatchedRow(next++, time, values);
        PriorityQueue<PartialMatch> left = queue();
        PriorityQueue<PartialMatch> completed = queue();
        for (PartialMatch match : partial) {
            for (PartialMatch after : automaton.next(match, row)) {
                (after.state().isEnd() ? completed : left).add(after);
            }
        }
        partial = left;
        settle(completed, time, emit);
    }

    /** Emits the complete matches that no earlier one may come before, and skips what is behind each of them. */
    private void settle(Collection<PartialMatch> completed, long time, Consumer<InternalRow> emit) {
        complete.addAll(completed);
        PartialMatch match = complete.peek();
        while (match != null && (partial.isEmpty() || match.start() <= partial.peek().start())) {
            complete.poll();
            long from = pattern.skip().from(match.last());
            partial.removeIf(other -> other.start() < from);
            complete.removeIf(other -> other.start() < from);
            emit.accept(measured(match.last(), time));
            match = complete.peek();
        }
    }

    private InternalRow measured(Step last, long time) {
        GenericInternalRow values = pattern.measures().values(last, 1);
        values.values()[values.numFields() - 1] = time;
        return values;
    }

    /** When the first match has lasted too long; {@link Long#MAX_VALUE}: never. */
    public long deadline() {
        boolean ends = pattern.within() > 0 && partial.peek().last() != null;
        return ends ? partial.peek().startTime() + pattern.within() : Long.MAX_VALUE;
    }

    /** What remains to be kept; null: nothing. The rows that it refers to are added to {@code rows}. */
    public InternalRow save(Map<Long, MatchedRow> rows) {
        if (partial.size() == 1 && complete.isEmpty()) {
            return null;
        }
        Map<Step, Integer> places = new IdentityHashMap<>();
        List<InternalRow> steps = new ArrayList<>();
        ArrayData left = written(partial, places, steps, rows);
        ArrayData waiting = written(complete, places, steps, rows);
        return Rows.of(new GenericArrayData(steps.toArray()), left, waiting);
    }

    private static ArrayData written(
            Collection<PartialMatch> matches,
            Map<Step, Integer> places,
            List<InternalRow> steps,
            Map<Long, MatchedRow> rows) {
        List<InternalRow> written = new ArrayList<>(matches.size());
        for (PartialMatch match : matches) {
            List<Step> unknown = new ArrayList<>();
            for (Step step = match.last(); step != null && !places.containsKey(step); step = step.parent) {
                unknown.add(step);
            }
            for (int i = unknown.size() - 1; i >= 0; i--) {
                Step step = unknown.get(i);
                places.put(step, steps.size());
                rows.put(step.row.number(), step.row);
                steps.add(Rows.of(
                        step.variable, step.row.number(), step.parent == null ? NONE : (int) places.get(step.parent)));
            }
            written.add(Rows.of(match.state().number, match.last() == null ? NONE : (int) places.get(match.last())));
        }
        return new GenericArrayData(written.toArray());
    }

    /** An empty collection of rows for {@link #save}. */
    public static Map<Long, MatchedRow> noRows() {
        return new HashMap<>();
    }
}

package flinkplan.runtime.pattern;

import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The last row of a match so far, with the variable that it is of and the step before; matches that begin alike share
 * steps. A variable occurs once in a pattern, so that its rows follow each other.
 */
public final class Step {
    final int variable;
    final MatchedRow row;
    final Step parent;
    /** The first step of all. */
    final Step start;
    /** The first one of the same variable. */
    final Step first;
    /** The last one of the variable before; null: there is none. */
    final Step before;
    /** How many steps of the variable, and how many of all, there are before this one. */
    final int index;

    final int depth;
    /** By aggregation: what was saved of the rows of its variable, or of all, up to this one; null: not asked for. */
    InternalRow[] totals;

    Step(int variable, MatchedRow row, Step parent) {
        this.variable = variable;
        this.row = row;
        this.parent = parent;
        start = parent == null ? this : parent.start;
        depth = parent == null ? 0 : parent.depth + 1;
        if (parent != null && parent.variable == variable) {
            first = parent.first;
            before = parent.before;
            index = parent.index + 1;
        } else {
            first = this;
            before = parent;
            index = 0;
        }
    }

    /** The last step of a variable, or of all ({@link Leaves#ANY}); null where there is none. */
    Step last(int of) {
        Step step = this;
        while (of != Leaves.ANY && step != null && step.variable != of) {
            step = step.before;
        }
        return step;
    }

    /** The first step of a variable, or of all. */
    Step first(int of) {
        Step last = last(of);
        return last == null ? null : of == Leaves.ANY ? last.start : last.first;
    }

    /** How many steps of a variable, or of all, there are before this one, which is one of them. */
    private int place(int of) {
        return of == Leaves.ANY ? depth : index;
    }

    /** The step of a variable, or of all, that is {@code offset} behind the first, or before the last; null: none. */
    Step at(int of, boolean fromFirst, int offset) {
        Step step = last(of);
        if (step == null || step.place(of) < offset) {
            return null;
        }
        if (fromFirst && offset == 0) {
            return first(of);
        }
        for (int back = fromFirst ? step.place(of) - offset : offset; back > 0; back--) {
            step = step.parent;
        }
        return step;
    }
}

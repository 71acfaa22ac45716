package flinkplan.runtime.pattern;

import java.util.Comparator;

/**
 * A match so far, or a complete one that waits for earlier ones.
 *
 * @param last its last step; null: it has not begun
 */
record PartialMatch(State state, Step last) {
    private static final long NEVER = Long.MAX_VALUE;

    /** Those that began earlier come first. */
    static final Comparator<PartialMatch> ORDER = Comparator.comparingLong(PartialMatch::start);

    /** The number of its first row. */
    long start() {
        return last == null ? NEVER : last.start.row.number();
    }

    /** The time of its first row. */
    long startTime() {
        return last == null ? NEVER : last.start.row.time();
    }
}

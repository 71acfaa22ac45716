package flinkplan.runtime.time;

import java.io.Serializable;

/**
 * When windows emit results beside the one at their end.
 *
 * @param early how long after a row a window that is still open emits, at the soonest: 0 at once, -1 never
 * @param late the same for a window that has emitted its result
 * @param lateness how long beyond its end a window takes rows
 * @param folds whether the changes of a micro-batch come to one
 */
public record Emission(long early, long late, long lateness, boolean folds) implements Serializable {
    /** Whether a window may emit more than one result. */
    boolean updates() {
        return early >= 0 || late >= 0;
    }
}

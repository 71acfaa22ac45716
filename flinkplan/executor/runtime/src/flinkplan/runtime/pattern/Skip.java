package flinkplan.runtime.pattern;

import java.io.Serializable;

/**
 * Where the search goes on after a match.
 *
 * @param variable the number of the variable that the search goes on with, where it is one
 * @param name how the variable is called, for people
 */
public record Skip(Target target, int variable, String name) implements Serializable {
    /** What the search goes on with. */
    public enum Target {
        PAST_LAST_ROW,
        TO_NEXT_ROW,
        TO_FIRST,
        TO_LAST
    }

    public static Skip of(String target, int variable, String name) {
        return new Skip(Target.valueOf(target), variable, name);
    }

    /** The number of the first row at which other matches may begin. */
    long from(Step last) {
        return switch (target) {
            case PAST_LAST_ROW -> last.row.number() + 1;
            case TO_NEXT_ROW -> last.start.row.number() + 1;
            case TO_FIRST -> checked(last.first(variable), last);
            case TO_LAST -> checked(last.last(variable), last);
        };
    }

    private long checked(Step to, Step last) {
        if (to == null) {
            throw new IllegalStateException("AFTER MATCH SKIP TO " + name + ": no row of a match is one of " + name);
        }
        if (to == last.start) {
            throw new IllegalStateException(
                    "AFTER MATCH SKIP TO " + name + ": that is the first row of a match, which would be found again");
        }
        return to.row.number();
    }
}

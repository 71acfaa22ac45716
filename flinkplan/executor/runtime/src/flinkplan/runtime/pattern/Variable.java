package flinkplan.runtime.pattern;

import flinkplan.runtime.catalyst.Condition;
import java.io.Serializable;

/**
 * A variable of a pattern.
 *
 * @param least how many rows it takes at least
 * @param most how many at most; {@link #UNLIMITED}
 * @param greedy whether a row that it can take is not given to the next variable
 * @param leaves what its condition reads of the match whose last row is the one in question
 * @param condition over the leaves; null: any row will do
 */
public record Variable(int least, int most, boolean greedy, Leaves leaves, Condition condition)
        implements Serializable {
    public static final int UNLIMITED = -1;
}

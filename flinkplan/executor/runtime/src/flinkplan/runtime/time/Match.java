package flinkplan.runtime.time;

import flinkplan.runtime.catalyst.Condition;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;

/** When rows of one key match: no key column is NULL that must not be, and the condition (or null) is true. */
public final class Match implements Serializable {
    private final boolean[] filterNulls;
    private final Condition condition;
    private transient BasePredicate predicate;
    private transient boolean keyMatches;

    public Match(boolean[] filterNulls, Condition condition) {
        this.filterNulls = filterNulls;
        this.condition = condition;
    }

    void open() {
        predicate = condition == null ? null : condition.compile();
    }

    void begin(InternalRow key) {
        keyMatches = true;
        for (int i = 0; i < filterNulls.length; i++) {
            keyMatches &= !(filterNulls[i] && key.isNullAt(i));
        }
    }

    boolean of(InternalRow left, InternalRow right) {
        return keyMatches && (predicate == null || predicate.eval(new JoinedRow(left, right)));
    }
}

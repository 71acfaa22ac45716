package flinkplan.runtime.rank;

import org.apache.spark.sql.catalyst.InternalRow;
import scala.math.Ordering;

/** How ranks are given to rows that are equal in the order. */
public enum Numbering {
    ROW_NUMBER,
    RANK,
    DENSE_RANK;

    /** Numbers rows that come in order. */
    final class Counter {
        private final Ordering<InternalRow> ordering;
        private InternalRow last;
        private long rows;
        private long rank;

        private Counter(Ordering<InternalRow> ordering) {
            this.ordering = ordering;
        }

        long rank(InternalRow row) {
            rows++;
            boolean tied = last != null && ordering.equiv(last, row);
            last = row;
            if (Numbering.this == ROW_NUMBER) {
                rank = rows;
            } else if (!tied) {
                rank = Numbering.this == RANK ? rows : rank + 1;
            }
            return rank;
        }
    }

    Counter counter(Ordering<InternalRow> ordering) {
        return new Counter(ordering);
    }
}

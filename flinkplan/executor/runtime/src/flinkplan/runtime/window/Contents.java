package flinkplan.runtime.window;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The rows of one window: an accumulator, and rows that are not in it yet; or, where all rows are kept, how many
 * chunks of them are in the state store, and those that are not.
 */
final class Contents {
    InternalRow accumulator;
    List<Element> added = new ArrayList<>();
    int chunks;
    /** All rows, once they have been asked for. */
    List<Element> all;
    /** Whether the chunks in the store are no longer what the window holds. */
    boolean replaced;
    long writtenAt;

    boolean isEmpty() {
        return accumulator == null && added.isEmpty() && (replaced || chunks == 0) && (all == null || all.isEmpty());
    }
}

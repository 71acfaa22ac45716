package flinkplan.runtime.batch;

import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;

/** What the first rows of a frame show of the others. */
public final class Sample {
    /** The places of hashes: eight for each row that is looked at, so that hardly two rows of several keys share one. */
    private static final int PLACES = 1 << 22;

    private static final int MOST_ROWS = PLACES / 8;
    private static final int LEAST_ROWS = 10_000;

    private Sample() {}

    /**
     * What part of the first task's rows have a key that no row before them has; 0 where these are few.
     *
     * <p>The same of rows that cannot be read: the job that reads them all says why.
     */
    public static double distinct(Dataset<Row> frame, List<Column> keys) {
        Dataset<Row> hashes = frame.select(functions.xxhash64(keys.toArray(Column[]::new)));
        JavaRDD<InternalRow> rows =
                ((org.apache.spark.sql.classic.Dataset<Row>) hashes).queryExecution().toRdd().toJavaRDD();
        if (rows.getNumPartitions() == 0) {
            return 0;
        }
        try {
            return rows.mapPartitions(Sample::count).collectPartitions(new int[] {0})[0].get(0);
        } catch (Exception e) { // Scala's code throws checked ones that it does not declare
            return 0;
        }
    }

    private static Iterator<Double> count(Iterator<InternalRow> hashes) {
        BitSet taken = new BitSet(PLACES);
        int rows = 0;
        for (; rows < MOST_ROWS && hashes.hasNext(); rows++) {
            taken.set((int) hashes.next().getLong(0) & (PLACES - 1));
        }
        double free = 1 - (double) taken.cardinality() / PLACES;
        double distinct = -PLACES * Math.log(free);
        return List.of(rows < LEAST_ROWS ? 0 : distinct / rows).iterator();
    }
}

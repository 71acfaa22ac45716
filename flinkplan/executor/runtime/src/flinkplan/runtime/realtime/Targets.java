package flinkplan.runtime.realtime;

import flinkplan.runtime.catalyst.MethodCall;
import flinkplan.runtime.row.Hidden;
import java.io.Serializable;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * Where watermarks go: to each partition of the operator that waits for them.
 *
 * <p>Spark sends rows where the hash of their grouping columns says. A watermark has NULL in all of them, which leaves
 * the hash as it is, but the last one, {@link Hidden#TARGET}: for each partition there is a number that leads there.
 */
public final class Targets implements Serializable {
    private static final int SEED = 42;
    private static final ArrayData ROW = new GenericArrayData(new int[] {0});

    private transient ArrayData all;

    /** A column with the array of a row's targets: all of them for a watermark, else 0. */
    public static Column column(Column isWatermark) {
        DataType targets = DataTypes.createArrayType(DataTypes.IntegerType, false);
        List<DataType> types = List.of(DataTypes.BooleanType);
        return MethodCall.deterministic(new Targets(), "of", targets, false, List.of(isWatermark), types);
    }

    /** Called for each row. */
    public ArrayData of(boolean isWatermark) {
        if (!isWatermark) {
            return ROW;
        }
        if (all == null) {
            all = new GenericArrayData(numbers(partitions()));
        }
        return all;
    }

    /** The number that leads to a partition, in a task of the query. */
    public static int number(int partition) {
        return numbers(partitions())[partition];
    }

    /** The partitions, of which each operator with state has as many. */
    public static int[] all() {
        return IntStream.range(0, partitions()).toArray();
    }

    /** As many as the query's checkpoint says, by which Spark has set it for the tasks. */
    private static int partitions() {
        return SQLConf.get().numShufflePartitions();
    }

    private static int[] numbers(int partitions) {
        int[] numbers = new int[partitions];
        int assigned = 0;
        for (int number = 1; assigned < partitions; number++) {
            int partition = Math.floorMod(Murmur3_x86_32.hashInt(number, SEED), partitions);
            if (numbers[partition] == 0) {
                numbers[partition] = number;
                assigned++;
            }
        }
        return numbers;
    }
}

package flinkplan.runtime.time;

import flinkplan.runtime.Kernels;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** What the executor calls. */
public final class TimedKernels {
    private TimedKernels() {}

    /** Runs a kernel over rows keyed by their first {@code keys} columns. */
    public static Dataset<Row> run(Dataset<Row> input, int keys, TimedKernel kernel) {
        return Kernels.run(input, keys, kernel, kernel.timeMode(), kernel.outputSchema());
    }
}

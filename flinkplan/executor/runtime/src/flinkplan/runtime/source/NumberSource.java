package flinkplan.runtime.source;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The source of the numbers from 0 on, each when it is due, for real-time mode.
 *
 * <p>Options: {@code rate}, how many there are a second, {@code count}, how many in all, and {@code ticks}, whether it
 * is told between them that time goes on.
 */
public final class NumberSource implements TableProvider {

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return StructType.fromDDL("value bigint");
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        long rate = Long.parseLong(options.get("rate"));
        long count = Long.parseLong(options.get("count"));
        boolean ticks = Boolean.parseBoolean(options.get("ticks"));
        return ScannedTable.ofStream("numbers", schema, options, () -> new NumberScan(schema, rate, count, ticks));
    }

    private record NumberScan(StructType readSchema, long rate, long count, boolean ticks) implements Scan {
        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new NumberStream(rate, count, ticks);
        }
    }
}

package flinkplan.runtime.source;

import flinkplan.runtime.watermark.SourceWatermarks;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The source of rows of time alone: those that end bounded input, and those that come in the place of sources that are
 * idle, or whose watermark is the clock.
 *
 * <p>A row is a time and the number of the source that it is of; without a number it is of every source. Options:
 * {@code time} (microseconds), the end of time, and {@code batches}, in how many of which it comes; {@code sources},
 * the name of their {@link SourceWatermarks}, where any is such a one.
 */
public final class ControlSource implements TableProvider {

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return StructType.fromDDL("time timestamp, source int");
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        long end = Long.parseLong(options.get("time"));
        int batches = Integer.parseInt(options.get("batches"));
        SourceWatermarks sources = SourceWatermarks.named(options.get("sources"));
        return ScannedTable.ofStream("control", schema, options, () -> new ControlScan(schema, end, batches, sources));
    }

    private record ControlScan(StructType readSchema, long end, int batches, SourceWatermarks sources) implements Scan {
        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new ControlStream(end, batches, sources);
        }
    }
}

package flinkplan.runtime.source;

import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.Statistics;

/**
 * About how many bytes a scan will read, by which a batch chooses the inputs of joins that it sends to all tasks.
 *
 * @param sizeInBytes empty where nobody knows, as of a stream
 */
public record InputSize(OptionalLong sizeInBytes) implements Statistics {
    @Override
    public OptionalLong numRows() {
        return OptionalLong.empty();
    }
}

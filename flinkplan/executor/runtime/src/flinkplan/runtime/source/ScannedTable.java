package flinkplan.runtime.source;

import flinkplan.runtime.row.Rows;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table that can be read, and nothing more; what is read is settled when it is made.
 *
 * @param name what Spark calls it in its plans
 * @param node the id of the node that reads it; null: it is of none
 * @param scan how it is read, once a query
 */
public record ScannedTable(
        String name, StructType rows, Set<TableCapability> capabilities, Integer node, Supplier<Scan> scan)
        implements SupportsRead {
    /** The option of sources that holds the id of the node that they are of, as {@code build/context.py} calls it. */
    public static final String NODE = "flinkplan-node";

    /** What is read in micro-batches only. */
    static ScannedTable ofStream(String name, StructType rows, Map<String, String> options, Supplier<Scan> scan) {
        return new ScannedTable(name, rows, Set.of(TableCapability.MICRO_BATCH_READ), node(options), scan);
    }

    /** What is read at once, too. */
    public static ScannedTable of(String name, StructType rows, Map<String, String> options, Supplier<Scan> scan) {
        Set<TableCapability> capabilities = Set.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ);
        return new ScannedTable(name, rows, capabilities, node(options), scan);
    }

    private static Integer node(Map<String, String> options) {
        String node = options.get(NODE);
        return node == null ? null : Integer.valueOf(node);
    }

    @Override
    public Column[] columns() {
        return Rows.columns(rows);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return scan::get;
    }
}

package flinkplan.runtime.source;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A source whose columns are not known from its options alone: who reads it gives the schema. */
public abstract class ScannedTableProvider implements TableProvider {

    /** The table of a schema, in the order of its columns; {@code options} are by their names as they were given. */
    protected abstract Table table(StructType schema, Map<String, String> options);

    @Override
    public final StructType inferSchema(CaseInsensitiveStringMap options) {
        throw new UnsupportedOperationException("the schema must be given");
    }

    @Override
    public final boolean supportsExternalMetadata() {
        return true;
    }

    @Override
    public final Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        return table(schema, options);
    }
}

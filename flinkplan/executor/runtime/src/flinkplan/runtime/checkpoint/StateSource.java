package flinkplan.runtime.checkpoint;

import flinkplan.runtime.state.WithoutDefaults;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.state.StateDataSource;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Spark's source of states, whose readers open stores {@linkplain WithoutDefaults without Hadoop's settings}. */
public final class StateSource implements TableProvider {
    private static final String PATH = "path";

    private final StateDataSource source = new StateDataSource();

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return source.inferSchema(options);
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        SupportsRead table = (SupportsRead) source.getTable(schema, partitioning, properties);
        return new StateTable(table, new CaseInsensitiveStringMap(properties).get(PATH));
    }

    /** Entries that Spark's source reads, read in this way. */
    static Dataset<Row> reading(Dataset<Row> entries) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) entries;
        LogicalPlan plan = reading(dataset.queryExecution().analyzed());
        return Dataset$.MODULE$.ofRows(dataset.sparkSession(), plan);
    }

    private static LogicalPlan reading(LogicalPlan plan) {
        if (plan instanceof DataSourceV2Relation relation && relation.table() instanceof SupportsRead table) {
            return relation.copy(
                    new StateTable(table, relation.options().get(PATH)),
                    relation.output(),
                    relation.catalog(),
                    relation.identifier(),
                    relation.options(),
                    relation.timeTravelSpec());
        }
        return plan.mapChildren(StateSource::reading);
    }

    /** @param place the folder of the checkpoint */
    private record StateTable(SupportsRead table, String place) implements SupportsRead {
        @Override
        public String name() {
            return table.name();
        }

        @Override
        public Column[] columns() {
            return table.columns();
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () -> new StateScan(table.newScanBuilder(options).build(), place);
        }
    }

    private record StateScan(Scan scan, String place) implements Scan, Batch {
        @Override
        public StructType readSchema() {
            return scan.readSchema();
        }

        @Override
        public String description() {
            return scan.description();
        }

        @Override
        public Batch toBatch() {
            return this;
        }

        @Override
        public InputPartition[] planInputPartitions() {
            return scan.toBatch().planInputPartitions();
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            PartitionReaderFactory readers = scan.toBatch().createReaderFactory();
            String place = this.place;
            return partition -> new EntryReader(readers.createReader(partition), place);
        }
    }

    /** Opens the store when it is asked for its first entry. */
    private static final class EntryReader implements PartitionReader<InternalRow> {
        private final PartitionReader<InternalRow> reader;
        private final String place;
        private boolean isOpen;

        EntryReader(PartitionReader<InternalRow> reader, String place) {
            this.reader = reader;
            this.place = place;
        }

        @Override
        public boolean next() throws IOException {
            if (isOpen) {
                return reader.next();
            }
            isOpen = true;
            // the classes of its file system may keep settings for good
            new Path(place).getFileSystem(SparkHadoopUtil.get().conf());
            return WithoutDefaults.call(reader::next);
        }

        @Override
        public InternalRow get() {
            return reader.get();
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}

package flinkplan.savepoint;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.legacy.table.connector.source.SourceFunctionProvider;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.catalog.TableDistribution;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.abilities.SupportsBucketing;
import org.apache.flink.table.connector.sink.abilities.SupportsOverwrite;
import org.apache.flink.table.connector.sink.abilities.SupportsPartitioning;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsLimitPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsPartitionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.connector.source.abilities.SupportsSourceWatermark;
import org.apache.flink.table.connector.source.abilities.SupportsWatermarkPushDown;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.functions.LookupFunction;
import org.apache.flink.table.types.DataType;

/** The connector of tables that give no rows, do not end, and take all rows. */
public final class IdleTables implements DynamicTableSourceFactory, DynamicTableSinkFactory {
    private static final String NAME = "flinkplan-idle";

    @Override
    public String factoryIdentifier() {
        return NAME;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(DynamicTableFactory.Context context) {
        return new Source();
    }

    @Override
    public DynamicTableSink createDynamicTableSink(DynamicTableFactory.Context context) {
        return new Sink();
    }

    private static final class Source
            implements ScanTableSource,
                    LookupTableSource,
                    SupportsFilterPushDown,
                    SupportsLimitPushDown,
                    SupportsPartitionPushDown,
                    SupportsProjectionPushDown,
                    SupportsReadingMetadata,
                    SupportsSourceWatermark,
                    SupportsWatermarkPushDown {
        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.all();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return SourceFunctionProvider.of(new Nothing(), false);
        }

        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return LookupFunctionProvider.of(new NoMatch());
        }

        @Override
        public DynamicTableSource copy() {
            return new Source();
        }

        @Override
        public String asSummaryString() {
            return NAME;
        }

        @Override
        public Result applyFilters(List<ResolvedExpression> filters) {
            return Result.of(filters, List.of());
        }

        @Override
        public void applyLimit(long limit) {}

        @Override
        public Optional<List<Map<String, String>>> listPartitions() {
            return Optional.empty();
        }

        @Override
        public void applyPartitions(List<Map<String, String>> partitions) {}

        @Override
        public boolean supportsNestedProjection() {
            return true;
        }

        @Override
        public void applyProjection(int[][] fields, DataType type) {}

        @Override
        public Map<String, DataType> listReadableMetadata() {
            return new AnyKey();
        }

        @Override
        public void applyReadableMetadata(List<String> keys, DataType type) {}

        @Override
        public void applySourceWatermark() {}

        @Override
        public void applyWatermark(WatermarkStrategy<RowData> strategy) {}
    }

    /** Metadata of any name. */
    private static final class AnyKey extends java.util.AbstractMap<String, DataType> {
        @Override
        public boolean containsKey(Object key) {
            return true;
        }

        @Override
        public DataType get(Object key) {
            return DataTypes.STRING();
        }

        @Override
        public Set<Entry<String, DataType>> entrySet() {
            return Set.of();
        }
    }

    private static final class Nothing extends RichParallelSourceFunction<RowData> {
        private transient CountDownLatch cancelled;

        @Override
        public void open(org.apache.flink.api.common.functions.OpenContext context) {
            cancelled = new CountDownLatch(1);
        }

        @Override
        public void run(SourceContext<RowData> context) throws InterruptedException {
            cancelled.await();
        }

        @Override
        public void cancel() {
            if (cancelled != null) {
                cancelled.countDown();
            }
        }
    }

    /** The result of each lookup. */
    public static final class NoMatch extends LookupFunction {
        @Override
        public List<RowData> lookup(RowData key) {
            return List.of();
        }
    }

    private static final class Sink
            implements DynamicTableSink,
                    SupportsBucketing,
                    SupportsOverwrite,
                    SupportsPartitioning,
                    SupportsWritingMetadata {
        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return requested;
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            return SinkV2Provider.of(new DiscardingSink<>());
        }

        @Override
        public DynamicTableSink copy() {
            return new Sink();
        }

        @Override
        public String asSummaryString() {
            return NAME;
        }

        @Override
        public Set<TableDistribution.Kind> listAlgorithms() {
            return Set.of(TableDistribution.Kind.values());
        }

        @Override
        public boolean requiresBucketCount() {
            return false;
        }

        @Override
        public void applyOverwrite(boolean overwrite) {}

        @Override
        public void applyStaticPartition(Map<String, String> partition) {}

        @Override
        public Map<String, DataType> listWritableMetadata() {
            return new AnyKey();
        }

        @Override
        public void applyWritableMetadata(List<String> keys, DataType type) {}
    }
}

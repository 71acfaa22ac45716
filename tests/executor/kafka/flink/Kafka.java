package standin;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.connector.source.abilities.SupportsWatermarkPushDown;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.DataType;

/** Stands in for the connector {@code kafka} while Flink compiles: what its planner asks, and no client. */
public final class Kafka implements DynamicTableSourceFactory, DynamicTableSinkFactory {
    @Override
    public String factoryIdentifier() {
        return "kafka";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(text("properties.bootstrap.servers"));
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(text("topic"), FactoryUtil.FORMAT, text("scan.startup.mode"));
    }

    private static ConfigOption<String> text(String key) {
        return ConfigOptions.key(key).stringType().noDefaultValue();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        return new Source(helper.discoverDecodingFormat(DeserializationFormatFactory.class, FactoryUtil.FORMAT));
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        return new Sink(helper.discoverEncodingFormat(SerializationFormatFactory.class, FactoryUtil.FORMAT));
    }

    private record Source(DecodingFormat<DeserializationSchema<RowData>> format)
            implements ScanTableSource, SupportsReadingMetadata, SupportsWatermarkPushDown {
        @Override
        public ChangelogMode getChangelogMode() {
            return format.getChangelogMode();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public DynamicTableSource copy() {
            return new Source(format);
        }

        @Override
        public String asSummaryString() {
            return "Kafka table source";
        }

        @Override
        public Map<String, DataType> listReadableMetadata() {
            Map<String, DataType> found = new LinkedHashMap<>();
            found.put("topic", DataTypes.STRING().notNull());
            found.put("partition", DataTypes.INT().notNull());
            found.put("offset", DataTypes.BIGINT().notNull());
            found.put("timestamp", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3).notNull());
            return found;
        }

        @Override
        public void applyReadableMetadata(List<String> keys, DataType type) {}

        @Override
        public void applyWatermark(WatermarkStrategy<RowData> strategy) {}
    }

    private record Sink(EncodingFormat<SerializationSchema<RowData>> format)
            implements DynamicTableSink, SupportsWritingMetadata {
        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return format.getChangelogMode();
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public DynamicTableSink copy() {
            return new Sink(format);
        }

        @Override
        public String asSummaryString() {
            return "Kafka table sink";
        }

        @Override
        public Map<String, DataType> listWritableMetadata() {
            return Map.of("timestamp", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3));
        }

        @Override
        public void applyWritableMetadata(List<String> keys, DataType type) {}
    }
}

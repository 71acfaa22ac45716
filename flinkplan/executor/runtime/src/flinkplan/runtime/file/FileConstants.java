package flinkplan.runtime.file;

import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.PartitionValues;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.unsafe.types.UTF8String;

/** The values of the columns that stand in no line of a file. */
final class FileConstants {
    private FileConstants() {}

    /** What all rows of a file have in common: partition columns and metadata. */
    static Object[] of(SourceFile file, FileSpec spec) throws IOException {
        Object[] values = new Object[spec.partitions().size() + spec.metadata().size()];
        int at = 0;
        Map<String, String> partition = file.partition();
        for (String key : spec.partitions()) {
            FlinkType type = spec.partitionTypes().get(at);
            String text = partition.get(key);
            boolean absent = text == null || text.equals(spec.defaultPartition());
            values[at++] = absent ? null : PartitionValues.parse(text, type);
        }
        for (String key : spec.metadata()) {
            values[at++] = metadata(file, key);
        }
        return values;
    }

    private static Object metadata(SourceFile file, String key) {
        return switch (key) {
            case "file.path" -> UTF8String.fromString(new Path(file.path()).toUri().getPath());
            case "file.name" -> UTF8String.fromString(new Path(file.path()).getName());
            case "file.size" -> file.size();
            case "file.modification-time" -> file.modified() * 1000;
            default -> throw new IllegalArgumentException("unknown metadata key " + key);
        };
    }
}

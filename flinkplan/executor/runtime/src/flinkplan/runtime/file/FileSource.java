package flinkplan.runtime.file;

import flinkplan.runtime.source.InputSize;
import flinkplan.runtime.source.ScannedTable;
import flinkplan.runtime.source.ScannedTableProvider;
import flinkplan.runtime.source.Switch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * The source of files in Flink's formats.
 *
 * <p>Rows come in the order of the files' names and of the lines in them, which the last column numbers; the one
 * before it is the row kind. Options: {@code spec}, and {@code switch}, the name of the {@link Switch} that files are
 * read behind, if any.
 */
public final class FileSource extends ScannedTableProvider {
    @Override
    protected Table table(StructType schema, Map<String, String> options) {
        FileSpec spec = FileSpec.parse(options.get("spec"));
        Switch behind = Switch.named(options.get("switch"));
        return ScannedTable.of("files " + spec.path(), schema, options, () -> new FileScan(schema, spec, behind));
    }

    private record FileScan(StructType readSchema, FileSpec spec, Switch behind)
            implements Scan, SupportsReportStatistics {
        /** How much larger text becomes that stands compressed, as a rule. */
        private static final int EXPANSION = 5;

        @Override
        public String description() {
            return "files " + spec.path();
        }

        @Override
        public Batch toBatch() {
            return new FileBatch(spec);
        }

        @Override
        public Statistics estimateStatistics() {
            return new InputSize(spec.isBatch() ? OptionalLong.of(size()) : OptionalLong.empty());
        }

        /** What the fields that rows have take of the files, as if all were equally long. */
        private long size() {
            try {
                long all = spec.files().stream()
                        .mapToLong(file -> file.size() * (LineReader.isCompressed(file.path()) ? EXPANSION : 1))
                        .sum();
                return all * (spec.projection().size() + 1) / (spec.type().size() + 1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return spec.isRealTime()
                    ? new GrowingFileStream(spec, checkpointLocation)
                    : new FileStream(spec, checkpointLocation, behind);
        }
    }

    /** All files at once; scans of the same table are equal, so that Spark can read it once for several of them. */
    private record FileBatch(FileSpec spec) implements Batch {

        @Override
        public InputPartition[] planInputPartitions() {
            try {
                return Slices.of(spec.files().stream().map(FilePart::whole).toList(), spec);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return new FileReaders(spec);
        }
    }

    private record FileReaders(FileSpec spec) implements PartitionReaderFactory {
        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new FileReader(spec, (Slices) partition);
        }
    }
}

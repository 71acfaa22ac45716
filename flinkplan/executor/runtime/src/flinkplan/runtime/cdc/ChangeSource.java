package flinkplan.runtime.cdc;

import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.source.PositionStream;
import flinkplan.runtime.source.ScannedTable;
import flinkplan.runtime.source.ScannedTableProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * The source of tables whose changes are captured: the wanted columns, metadata columns, and the row kind.
 *
 * <p>Options: {@code spec}, as {@link ChangeSpec} reads it, and either {@code positions}, what
 * {@link PositionStream#offer} gave, or {@code files}, an array of the local files of a batch.
 */
public final class ChangeSource extends ScannedTableProvider {
    @Override
    protected Table table(StructType schema, Map<String, String> options) {
        ChangeSpec spec = ChangeSpec.of(options.get("spec"));
        PythonMethods positions = PositionStream.offered(options.get("positions"));
        return ScannedTable.of("changes", schema, options, () -> new ChangeScan(schema, spec, options.get("files"), positions));
    }

    /** A file in a checkpoint. */
    record FilePartition(String path) implements InputPartition {}

    /** The content of a file of this machine. */
    private record ContentPartition(byte[] content) implements InputPartition {}

    static PartitionReaderFactory readers(ChangeSpec spec) {
        return new Readers(spec);
    }

    private record Readers(ChangeSpec spec) implements PartitionReaderFactory {
        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return partition instanceof ContentPartition local
                    ? ChangeReader.of(spec, local.content())
                    : ChangeReader.of(spec, ((FilePartition) partition).path());
        }
    }

    private record ChangeScan(StructType readSchema, ChangeSpec spec, String files, PythonMethods positions)
            implements Scan {
        @Override
        public Batch toBatch() {
            return new ChangeBatch(spec, files);
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new ChangeStream(spec, positions, checkpointLocation);
        }
    }

    private record ChangeBatch(ChangeSpec spec, String files) implements Batch {
        @Override
        public InputPartition[] planInputPartitions() {
            return StreamSupport.stream(ChangeSpec.json(files).spliterator(), false)
                    .map(file -> new ContentPartition(content(file.asText())))
                    .toArray(InputPartition[]::new);
        }

        private static byte[] content(String file) {
            try {
                return Files.readAllBytes(Path.of(file));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return readers(spec);
        }
    }
}

package flinkplan.runtime.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * Spark's files of a checkpoint, each there whole or not at all.
 *
 * <p>On a local disk Hadoop would make two for each of them, one of checksums beside Spark's own.
 */
public final class CheckpointFiles extends FileSystemBasedCheckpointFileManager {
    /** As Spark calls it by reflection. */
    public CheckpointFiles(Path path, Configuration configuration) {
        super(path, configuration);
    }

    @Override
    public FSDataOutputStream createTempFile(Path path) {
        try {
            return isLocal() ? LocalFile.create(path) : super.createTempFile(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

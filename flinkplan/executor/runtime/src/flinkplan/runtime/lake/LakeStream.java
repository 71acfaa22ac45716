package flinkplan.runtime.lake;

import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.source.PositionStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** The stream of a table of a lake: the files of its first snapshot, and those that later ones have added. */
final class LakeStream extends PositionStream {
    private final DataFiles files;

    LakeStream(DataFiles files, PythonMethods positions) {
        super(positions, "snapshots");
        this.files = files;
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return files.plan(LakeSource.parse(ask("between", start.json(), end.json())));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return files.readers();
    }

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "lake table";
    }
}

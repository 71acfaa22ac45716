package flinkplan.runtime.source;

import flinkplan.runtime.python.PythonMethods;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** The stream of ranges of messages. */
final class RangeStream extends PositionStream {
    RangeStream(PythonMethods positions) {
        super(positions, "messages");
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return RangeSource.partitions(ask("between", start.json(), end.json()));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return RangeSource.readers();
    }

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "messages";
    }
}

package flinkplan.runtime.message;

import flinkplan.runtime.python.PythonMethods;
import flinkplan.runtime.python.PythonProcess;
import flinkplan.runtime.source.PositionStream;
import flinkplan.runtime.source.ScannedTable;
import flinkplan.runtime.source.ScannedTableProvider;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * The source of messages in real-time mode, which a client in a process of Python reads as they come.
 *
 * <p>Options: {@code positions}, what {@link PositionStream#offer} gave, {@code python} and {@code modules}, the
 * interpreter and where it looks for modules, and {@code ticks}, whether a message without values comes every 50 ms
 * beside the others. The settings of the client, which may have secrets, are no options: the driver's Python is asked.
 */
public final class RealTimeMessages extends ScannedTableProvider {
    private static final String MODULE = "flinkplan.executor.kafka.client_process";

    @Override
    protected Table table(StructType schema, Map<String, String> options) {
        PythonMethods positions = PositionStream.offered(options.get("positions"));
        String python = options.get("python");
        String modules = options.get("modules");
        boolean ticks = Boolean.parseBoolean(options.get("ticks"));
        return ScannedTable.of("messages", schema, options, () -> {
            byte[] client = positions.ask("client").getBytes(StandardCharsets.UTF_8);
            var program = new PythonProcess.Program(python, modules, MODULE, List.of(client));
            return new MessageScan(schema, positions, program, ticks);
        });
    }

    private record MessageScan(StructType readSchema, PythonMethods positions, PythonProcess.Program program, boolean ticks)
            implements Scan {
        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new RealTimeMessageStream(readSchema, positions, program, ticks);
        }
    }
}

package flinkplan.runtime.checkpoint;

import flinkplan.runtime.kernel.Kernel;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A kernel whose states are filled, in the place of seeing rows.
 *
 * <p>It takes one row for each entry: the columns of the key, then the number of the variable ({@link #TIMER} for a
 * timer), when the entry expires (epoch milliseconds, or when the timer is due), its position, and the map key and value
 * of each variable in turn, all NULL but those of the row's own.
 *
 * <p>The entries are not an initial state as Spark has it: of such a one Spark generates the code that reads a row anew
 * for each key.
 */
final class Bootstrap extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    /** Stands in the place of a variable's number for a timer. */
    static final int TIMER = -1;

    private static final int HEAD = 3;

    /** How many entries have been put into states in this JVM. */
    private static final LongAdder WRITTEN = new LongAdder();

    private final Kernel kernel;
    private final int keys;

    private transient List<LoadedVariables.Variable> variables;

    /** @param keys the number of the key's columns */
    Bootstrap(Kernel kernel, int keys) {
        this.kernel = kernel;
        this.keys = keys;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        LoadedVariables loaded = new LoadedVariables(getHandle());
        kernel.openedBy(loaded);
        kernel.setHandle(getHandle());
        kernel.init(outputMode, timeMode);
        variables = loaded.all();
    }

    @Override
    public Iterator<InternalRow> handleInputRows(InternalRow key, Iterator<InternalRow> entries, TimerValues timers) {
        while (entries.hasNext()) {
            put(entries.next(), timers);
            WRITTEN.increment();
        }
        return CollectionConverters.asScala(List.<InternalRow>of().iterator());
    }

    /** How many entries have been put into states in this JVM, which is where all are with a local master. */
    static long written() {
        return WRITTEN.sum();
    }

    private void put(InternalRow entry, TimerValues timers) {
        int number = entry.getInt(keys);
        if (number == TIMER) {
            getHandle().registerTimer(entry.getLong(keys + 1));
            return;
        }
        var variable = variables.get(number);
        if (variable.expiry() != null) {
            long rest = entry.getLong(keys + 1) - timers.getCurrentProcessingTimeInMs();
            if (rest <= 0) {
                return;
            }
            variable.expiry().in(rest);
        }
        int at = keys + HEAD + 2 * number;
        InternalRow mapKey = variable.mapKey() == null ? null : entry.getStruct(at, variable.mapKey().length());
        variable.put().put(mapKey, entry.getStruct(at + 1, variable.value().length()));
    }

    @Override
    public void close() {
        kernel.close();
        kernel.openedBy(null);
    }
}

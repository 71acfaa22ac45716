package flinkplan.runtime.udf;

import org.apache.spark.sql.catalyst.InternalRow;

/** Calls of a process table function, whose instance is open. */
public interface ProcessCall extends AutoCloseable {
    /** Says where it is called; before the first call. */
    void at(ProcessHost host);

    /**
     * Calls {@code eval} for a row.
     *
     * @param table the number of the input that the row is of
     * @param kind the kind of the row
     * @param scalars the values of the arguments that are no tables
     * @param time the time of the row in milliseconds; null where it has none
     */
    void eval(int table, InternalRow row, byte kind, InternalRow scalars, Long time);

    /**
     * Calls {@code onTimer}.
     *
     * @param name the timer's; null where it has none
     */
    void onTimer(String name, long time);

    @Override
    void close();
}

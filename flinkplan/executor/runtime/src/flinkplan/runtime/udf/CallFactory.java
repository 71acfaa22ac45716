package flinkplan.runtime.udf;

/** Makes calls of functions by their descriptions in JSON; implemented beside Flink's classes. */
public interface CallFactory {
    /** A call of a scalar function, whose instance is open. */
    ScalarCall scalar(String description);

    /** Calls of an asynchronous scalar function, whose instance is open. */
    AsyncCall async(String description);

    /** A call of a table function, whose instance is open: it gives an array of rows. */
    ScalarCall table(String description);

    /** Calls of a process table function, whose instance is open. */
    ProcessCall process(String description);

    /** A call of an aggregate function, whose instance is open. */
    AggregateCall aggregate(String description);
}

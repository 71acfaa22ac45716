package flinkplan.runtime.udf;

/** A call of an aggregate function: one accumulator at a time, and values as Spark holds them inside. */
public interface AggregateCall extends AutoCloseable {
    /** Begins with a new accumulator. */
    void reset();

    /** Goes on with an accumulator that was {@link #save saved}. */
    void load(byte[] saved);

    byte[] save();

    void accumulate(Object[] arguments);

    void retract(Object[] arguments);

    /** Takes in another accumulator that was saved. */
    void merge(byte[] saved);

    Object value();

    @Override
    void close();
}

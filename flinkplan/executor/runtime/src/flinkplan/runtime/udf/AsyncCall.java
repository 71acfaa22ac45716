package flinkplan.runtime.udf;

import java.util.concurrent.CompletableFuture;

/** Calls of an asynchronous function; arguments and results are values as Spark holds them inside. */
public interface AsyncCall extends AutoCloseable {
    /** Begins a call; retries and the timeout are part of it. */
    CompletableFuture<Object> start(Object[] arguments);

    /** How many calls may run at a time. */
    int most();

    @Override
    void close();
}

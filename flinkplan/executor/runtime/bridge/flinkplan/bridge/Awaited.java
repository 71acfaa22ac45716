package flinkplan.bridge;

import flinkplan.runtime.udf.AsyncCall;
import flinkplan.runtime.udf.ScalarCall;
import java.util.concurrent.ExecutionException;

/** Calls of an asynchronous function one after the other, where rows may not wait for each other. */
final class Awaited implements ScalarCall {
    private final AsyncCall calls;

    Awaited(AsyncCall calls) {
        this.calls = calls;
    }

    @Override
    public Object callAll(Object... arguments) {
        try {
            return calls.start(arguments).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException
                    ? (RuntimeException) e.getCause()
                    : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        calls.close();
    }
}

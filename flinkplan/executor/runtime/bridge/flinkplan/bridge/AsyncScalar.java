package flinkplan.bridge;

import flinkplan.functions.Methods;
import flinkplan.runtime.udf.AsyncCall;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.table.types.DataType;

/** Calls of an asynchronous scalar function; retries and the timeout are Flink's options. */
final class AsyncScalar implements AsyncCall {
    private final Calls.Prepared call;
    private final MethodHandle spread;
    private final int attempts;
    private final long delay;
    private final long timeout;
    private final int most;

    AsyncScalar(Calls.Prepared call) {
        this.call = call;
        List<Class<?>> classes = new ArrayList<>(List.of(CompletableFuture.class));
        call.arguments.stream().map(DataType::getConversionClass).forEach(classes::add);
        try {
            MethodHandle eval = Methods.bound(call.function, "eval", classes);
            spread = eval.asSpreader(Object[].class, classes.size());
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        var how = call.json.get("async");
        attempts = Math.max(1, how.get("attempts").asInt());
        delay = how.get("retryDelay").asLong();
        timeout = how.get("timeout").asLong();
        most = how.get("concurrent").asInt();
    }

    @Override
    public int most() {
        return most;
    }

    @Override
    public CompletableFuture<Object> start(Object[] arguments) {
        Object[] values = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            values[i] = call.argument(i, arguments[i]);
        }
        CompletableFuture<Object> result = new CompletableFuture<>();
        attempt(values, 1, result);
        return result.orTimeout(timeout, TimeUnit.MILLISECONDS).handle((value, error) -> {
            if (error == null) {
                return call.result.toSparkOrNull(value);
            }
            throw call.failed(
                    error instanceof TimeoutException
                            ? new TimeoutException("no result within " + timeout + " ms")
                            : error);
        });
    }

    private void attempt(Object[] arguments, int number, CompletableFuture<Object> result) {
        if (result.isDone()) {
            return; // it took too long
        }
        CompletableFuture<Object> attempt = new CompletableFuture<>();
        Object[] values = new Object[arguments.length + 1];
        values[0] = attempt;
        System.arraycopy(arguments, 0, values, 1, arguments.length);
        attempt.whenComplete((value, error) -> {
            if (error == null) {
                result.complete(value);
            } else if (number >= attempts) {
                result.completeExceptionally(error);
            } else {
                CompletableFuture.delayedExecutor(delay, TimeUnit.MILLISECONDS)
                        .execute(() -> attempt(arguments, number + 1, result));
            }
        });
        try {
            Object ignored = (Object) spread.invokeExact(values);
        } catch (Throwable e) { // whatever the function raises by itself, which is not tried again
            result.completeExceptionally(e);
        }
    }

    @Override
    public void close() {
        call.close();
    }
}

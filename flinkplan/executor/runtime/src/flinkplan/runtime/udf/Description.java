package flinkplan.runtime.udf;

import java.io.Serializable;
import java.util.function.Function;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * A call of a function before it is opened.
 *
 * @param json the class, the types of arguments and of the result, literals, and what {@code open} is told
 */
public record Description(Jars jars, String json) implements Serializable {
    /** The call, open until the task ends. */
    <T extends AutoCloseable> T open(Function<CallFactory, T> make) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(jars.classes());
        T call;
        try {
            call = make.apply(jars.calls());
        } finally {
            thread.setContextClassLoader(before);
        }
        TaskContext task = TaskContext.get();
        if (task != null) {
            task.addTaskCompletionListener((TaskCompletionListener) ended -> close(call));
        }
        return call;
    }

    /** The same of a scalar function. */
    ScalarCall openScalar() {
        return open(calls -> calls.scalar(json));
    }

    /** The same of an asynchronous function. */
    AsyncCall openAsync() {
        return open(calls -> calls.async(json));
    }

    /** The same of a table function. */
    ScalarCall openTable() {
        return open(calls -> calls.table(json));
    }

    /** The same of a process table function. */
    public ProcessCall openProcess() {
        return open(calls -> calls.process(json));
    }

    /** The same of an aggregate function. */
    public AggregateCall openAggregate() {
        return open(calls -> calls.aggregate(json));
    }

    private static void close(AutoCloseable call) {
        try {
            call.close();
        } catch (Exception e) {
            throw e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
        }
    }
}

package flinkplan.runtime.state;

import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.state.ReusableIterator;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import scala.Some;

/**
 * The timers of an operator that sets none.
 *
 * <p>In real-time mode Spark looks for those that are due after each row, each time anew in the state store.
 */
public final class NoTimers extends ReusableIterator<UnsafeRowPair> {
    private NoTimers() {}

    /** Has Spark find no timer of an operator in real-time mode, without looking; those of its handle are open. */
    public static void of(StatefulProcessorHandleImpl handle) {
        Fields.set(Fields.get(handle, "timerState"), "reusableIterator", new Some<>(new NoTimers()));
    }

    @Override
    public void refreshAndSeekToPrefix(UnsafeRow prefix) {}

    @Override
    public boolean hasNext() {
        return false;
    }

    @Override
    public UnsafeRowPair next() {
        throw new NoSuchElementException();
    }

    @Override
    public void close() {}
}

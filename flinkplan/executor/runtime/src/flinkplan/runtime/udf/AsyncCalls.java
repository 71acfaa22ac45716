package flinkplan.runtime.udf;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.catalyst.RowGenerator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.collection.IterableOnce;

/**
 * Rows with what an asynchronous function gives for each: so many calls run at a time, and rows stay in their order.
 *
 * <p>It is a generator for Spark, which emits a row when the call for it has ended, and those for the rows before it.
 */
public final class AsyncCalls extends RowGenerator {
    private static final String RESULT = "__async";

    private final List<Expression> columns;
    private final StructType input;
    private final Description description;
    private final int arguments;
    private final DataType result;

    private transient UnsafeProjection projection;
    private transient AsyncCall call;
    private transient Deque<Pending> pending;

    private record Pending(InternalRow row, CompletableFuture<Object> result) {}

    private AsyncCalls(
            List<Expression> columns, StructType input, Description description, int arguments, DataType result) {
        super(columns, description, arguments, result);
        this.columns = columns;
        this.input = input;
        this.description = description;
        this.arguments = arguments;
        this.result = result;
    }

    /** Adds the column of results to rows whose last {@code arguments} columns are those of the calls. */
    public static Dataset<Row> run(Dataset<Row> rows, Description description, int arguments, DataType result) {
        StructType input = rows.schema();
        return run(rows, columns -> new AsyncCalls(columns, input, description, arguments, result));
    }

    @Override
    public StructType elementSchema() {
        return input.add(RESULT, result);
    }

    @Override
    public IterableOnce<InternalRow> eval(InternalRow child) {
        if (call == null) {
            projection = UnsafeProjection.create(asScala(columns));
            call = description.openAsync();
            pending = new ArrayDeque<>();
        }
        InternalRow row = projection.apply(child).copy();
        Object[] values = new Object[arguments];
        int first = input.length() - arguments;
        for (int i = 0; i < arguments; i++) {
            values[i] = row.isNullAt(first + i) ? null : row.get(first + i, input.fields()[first + i].dataType());
        }
        List<InternalRow> ended = new ArrayList<>();
        while (pending.size() >= call.most() || (!pending.isEmpty() && pending.peek().result.isDone())) {
            ended.add(awaited(pending.remove()));
        }
        pending.add(new Pending(row, call.start(values)));
        return asScala(ended);
    }

    @Override
    public IterableOnce<InternalRow> terminate() {
        List<InternalRow> ended = new ArrayList<>();
        while (pending != null && !pending.isEmpty()) {
            ended.add(awaited(pending.remove()));
        }
        return asScala(ended);
    }

    private static InternalRow awaited(Pending pending) {
        try {
            return new JoinedRow(pending.row, new GenericInternalRow(new Object[] {pending.result.get()}));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new AsyncCalls(children, input, description, arguments, result);
    }
}

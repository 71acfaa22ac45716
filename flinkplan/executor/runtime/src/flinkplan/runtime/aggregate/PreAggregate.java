package flinkplan.runtime.aggregate;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.catalyst.RowGenerator;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.Rows;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.IterableOnce;

/**
 * Folds the rows of each group within a task, before they are sorted and sent to the group's state.
 *
 * <p>It is a generator for Spark, which emits what its task has folded when the task's rows have ended. Its rows are
 * a group's key, the number of its rows, one struct a call with what the call saves, perhaps a watermark, and a sequence
 * number.
 */
public final class PreAggregate extends RowGenerator {
    private static final String ROWS = "rows";

    private final List<Expression> columns;
    private final StructType input;
    private final int keys;
    private final Call[] calls;

    private transient UnsafeProjection row;
    private transient UnsafeProjection key;
    private transient Folding folding;

    private PreAggregate(List<Expression> columns, StructType input, int keys, Call[] calls) {
        super(columns, keys, List.of(calls));
        this.columns = columns;
        this.input = input;
        this.keys = keys;
        this.calls = calls;
    }

    /** Whether folding insert-only rows of a group first makes no difference to any of the calls. */
    public static boolean isExact(Call[] calls) {
        return Arrays.stream(calls).allMatch(call -> call.function().merges());
    }

    /**
     * Folds rows whose first {@code keys} columns are the key and whose last is the sequence number; the one before may
     * be the watermark that rows came behind.
     */
    public static Dataset<Row> run(Dataset<Row> rows, int keys, Call[] calls) {
        if (!isExact(calls)) {
            throw new IllegalArgumentException("folding rows first would change what the calls compute");
        }
        return run(rows, columns -> new PreAggregate(columns, rows.schema(), keys, calls));
    }

    /** The calls over what comes out: each merges what it saved. */
    public static Call[] merged(int keys, Call[] calls) {
        return IntStream.range(0, calls.length)
                .mapToObj(i -> new Call(calls[i].name(), new Merged(calls[i].function(), keys + 1 + i), -1))
                .toArray(Call[]::new);
    }

    @Override
    public StructType elementSchema() {
        StructType schema = Rows.select(input, IntStream.range(0, keys).toArray()).add(ROWS, DataTypes.LongType, false);
        for (int i = 0; i < calls.length; i++) {
            schema = schema.add("call" + i, calls[i].function().schema(), false);
        }
        if (watermark() >= 0) {
            schema = schema.add(Hidden.WATERMARK, DataTypes.LongType);
        }
        return schema.add(Hidden.SEQUENCE, DataTypes.LongType, false);
    }

    private int watermark() {
        return List.of(input.fieldNames()).indexOf(Hidden.WATERMARK);
    }

    @Override
    public IterableOnce<InternalRow> eval(InternalRow child) {
        if (folding == null) {
            folding = new Folding(calls, watermark());
            row = UnsafeProjection.create(asScala(columns));
            key = Rows.projection(input, IntStream.range(0, keys).toArray());
        }
        InternalRow values = row.apply(child);
        InternalRow kept = folding.passesOn() ? values : values.copy();
        return asScala(folding.add(key.apply(kept), kept, kept.getLong(columns.size() - 1)));
    }

    @Override
    public IterableOnce<InternalRow> terminate() {
        return asScala(folding == null ? List.<InternalRow>of() : folding.drain());
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new PreAggregate(children, input, keys, calls);
    }
}

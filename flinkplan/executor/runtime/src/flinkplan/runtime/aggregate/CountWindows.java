package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.ChangelogKernel;
import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Windows of so many rows of a key, which emit their aggregates when they are full.
 *
 * <p>A window begins with every row whose number is a multiple of the slide. What is not full at the end of input is
 * never emitted. Source: Flink's {@code CountSlidingWindowAssigner} and {@code CountTumblingWindowAssigner}.
 */
public final class CountWindows extends ChangelogKernel {
    private static final long serialVersionUID = 1;

    private final Spec spec;

    private transient StructType window;
    private transient ValueState<InternalRow> state;
    private transient InternalRow key;
    private transient long rows;
    private transient List<InternalRow> open;

    /**
     * What there is to know of it beside its input.
     *
     * @param columns the schema of the output but for the hidden columns
     * @param keyed whether the key is emitted
     * @param size how many rows a window has
     * @param slide how many rows behind a window the next one begins
     */
    public record Spec(StructType columns, Aggregation aggregation, boolean keyed, long size, long slide)
            implements Serializable {}

    public CountWindows(StructType input, Spec spec) {
        super(input, spec.columns, false);
        this.spec = spec;
    }

    @Override
    protected void open() {
        spec.aggregation().open(null);
        window = new StructType()
                .add("start", DataTypes.LongType, false)
                .add("accumulators", spec.aggregation().schema());
        StructType kept = new StructType()
                .add("rows", DataTypes.LongType, false)
                .add("open", DataTypes.createArrayType(window, false), false);
        state = valueState("windows", kept, 0);
    }

    @Override
    protected void begin(InternalRow key) {
        this.key = key;
        InternalRow kept = state.get();
        rows = kept == null ? 0 : kept.getLong(0);
        open = new ArrayList<>();
        for (int i = 0; kept != null && i < kept.getArray(1).numElements(); i++) {
            open.add(kept.getArray(1).getStruct(i, window.length()));
        }
    }

    @Override
    protected void process(InternalRow row, byte kind) {
        if (rows % spec.slide() == 0) {
            open.add(Rows.of(rows, null));
        }
        rows++;
        List<InternalRow> still = new ArrayList<>();
        for (InternalRow each : open) {
            Aggregation aggregation = spec.aggregation();
            if (each.isNullAt(1)) {
                aggregation.begin();
            } else {
                aggregation.begin(each.getStruct(1, aggregation.schema().length()), 0);
            }
            aggregation.add(row);
            if (rows - each.getLong(0) == spec.size()) {
                InternalRow values = aggregation.values();
                emit(RowKind.INSERT, spec.keyed() ? new JoinedRow(key, values) : values);
            } else {
                still.add(Rows.of(each.getLong(0), aggregation.save()));
            }
        }
        open = still;
    }

    @Override
    protected void finish() {
        state.update(Rows.of(rows, new GenericArrayData(open.toArray())));
    }
}

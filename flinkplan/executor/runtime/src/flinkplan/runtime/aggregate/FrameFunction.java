package flinkplan.runtime.aggregate;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A call of an aggregate function over the frames of a window, as an aggregate function of Spark.
 *
 * <p>A window computes one frame after the other, so that the call's own accumulator is the buffer. Spark never merges
 * buffers of frames.
 */
public final class FrameFunction extends TypedImperativeAggregate<Accumulator> implements Serializable {
    private final List<Expression> columns;
    private final Call call;
    private final DataType type;
    private final int mutableOffset;
    private final int inputOffset;

    private transient UnsafeProjection row;
    private transient boolean isOpen;

    private FrameFunction(List<Expression> columns, Call call, DataType type, int mutableOffset, int inputOffset) {
        this.columns = List.copyOf(columns);
        this.call = call;
        this.type = type;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    /**
     * A column that is an aggregate over the frames of a window.
     *
     * @param call over rows of {@code columns}, whose accumulator no other column has
     * @param type of the result
     */
    public static Column of(Call call, DataType type, List<Column> columns) {
        List<Expression> read =
                columns.stream().map(ExpressionUtils::expression).toList();
        FrameFunction function = new FrameFunction(read, call, type, 0, 0);
        return ExpressionUtils.column(function.toAggregateExpression(false, Option.empty()));
    }

    @Override
    public Accumulator createAggregationBuffer() {
        Accumulator function = call.function();
        if (!isOpen) {
            function.open(null, call.name(), 0);
            isOpen = true;
        }
        function.begin(false);
        function.reset();
        return function;
    }

    @Override
    public Accumulator update(Accumulator function, InternalRow input) {
        if (row == null) {
            row = UnsafeProjection.create(asScala(columns));
        }
        InternalRow read = row.apply(input).copy();
        if (call.accepts(read)) {
            function.add(read);
        }
        return function;
    }

    @Override
    public Object eval(Accumulator function) {
        return function.value();
    }

    @Override
    public Accumulator merge(Accumulator one, Accumulator other) {
        throw new UnsupportedOperationException("frames are not merged");
    }

    @Override
    public byte[] serialize(Accumulator function) {
        throw new UnsupportedOperationException("frames are not sent to other tasks");
    }

    @Override
    public Accumulator deserialize(byte[] bytes) {
        throw new UnsupportedOperationException("frames are not sent to other tasks");
    }

    @Override
    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    @Override
    public int inputAggBufferOffset() {
        return inputOffset;
    }

    @Override
    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return new FrameFunction(columns, call, type, offset, inputOffset);
    }

    @Override
    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return new FrameFunction(columns, call, type, mutableOffset, offset);
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    public Seq<Expression> children() {
        return asScala(columns);
    }

    @Override
    public Expression mapChildren(Function1<Expression, Expression> function) {
        return over(columns.stream().map(function::apply).toList());
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return over(CollectionConverters.asJava(children));
    }

    private Expression over(List<Expression> children) {
        return new FrameFunction(children, call, type, mutableOffset, inputOffset);
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? children() : call;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof FrameFunction;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FrameFunction that && that.call == call && that.columns.equals(columns);
    }

    @Override
    public int hashCode() {
        return 31 * columns.hashCode() + System.identityHashCode(call);
    }
}

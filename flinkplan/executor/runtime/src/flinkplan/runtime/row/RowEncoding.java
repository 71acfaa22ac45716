package flinkplan.runtime.row;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoder;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.Seq;

/**
 * An encoder of internal rows, which reads whole rows and so no attribute that would have to be found.
 *
 * <p>For each state variable that a task opens, Spark binds the encoders of keys and values to attributes: it analyzes a
 * plan made for that, which takes longer than a micro-batch of few rows has work for the variable.
 */
final class RowEncoding extends ExpressionEncoder<InternalRow> {
    private static final long serialVersionUID = 1L;

    RowEncoding(AgnosticEncoder<InternalRow> shape, Expression serializer, RowCopy deserializer) {
        super(shape, serializer, deserializer);
    }

    @Override
    public ExpressionEncoder<InternalRow> resolveAndBind(Seq<Attribute> attributes, Analyzer analyzer) {
        return this;
    }
}

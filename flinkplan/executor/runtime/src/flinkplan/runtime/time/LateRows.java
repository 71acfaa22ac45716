package flinkplan.runtime.time;

import static flinkplan.runtime.Sequences.asScala;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.util.LongAccumulator;

/** Counts the rows that an operator drops because they come too late. */
public final class LateRows implements Serializable {
    private final LongAccumulator count;

    public LateRows(SparkSession session) {
        count = session.sparkContext().longAccumulator("late rows");
    }

    void add(long rows) {
        count.add(rows);
    }

    /** How many there were, as far as tasks have ended. */
    public long total() {
        return count.value();
    }

    /** The condition {@code onTime}, which counts a row where it does not hold, but {@code counts} does. */
    public Column filter(Column onTime, Column counts) {
        List<Expression> arguments = Stream.of(onTime, counts).map(ExpressionUtils::expression).toList();
        List<AbstractDataType> types = List.of(DataTypes.BooleanType, DataTypes.BooleanType);
        return ExpressionUtils.column(
                new Invoke(
                        new Literal(this, new ObjectType(LateRows.class)),
                        "pass",
                        DataTypes.BooleanType,
                        asScala(arguments),
                        asScala(types),
                        false,
                        false,
                        false));
    }

    /** Called for each row. */
    public boolean pass(boolean onTime, boolean counts) {
        if (!onTime && counts) {
            count.add(1);
        }
        return onTime;
    }
}

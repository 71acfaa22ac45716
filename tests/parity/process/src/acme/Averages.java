package acme;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** An average of each key that is updated, and deleted when it is small. */
@FunctionHint(output = @DataTypeHint("ROW<mean DOUBLE, n BIGINT>"))
public class Averages extends ProcessTableFunction<Row> implements ChangelogFunction {
    public static class Sum {
        public double sum;
        public long n;
        public Double shown;
    }

    public void eval(@StateHint Sum s, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row r) {
        Integer v = r.getFieldAs("v");
        if (v == null) {
            return;
        }
        long before = s.n;
        s.sum += v;
        s.n++;
        double mean = s.sum / s.n;
        if (mean < 4) {
            if (s.shown != null) {
                collect(Row.ofKind(RowKind.DELETE, s.shown, before));
            }
            s.shown = null;
        } else if (s.shown == null) {
            collect(Row.ofKind(RowKind.INSERT, mean, s.n));
            s.shown = mean;
        } else {
            collect(Row.ofKind(RowKind.UPDATE_BEFORE, s.shown, before));
            collect(Row.ofKind(RowKind.UPDATE_AFTER, mean, s.n));
            s.shown = mean;
        }
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogContext context) {
        return ChangelogMode.all();
    }
}

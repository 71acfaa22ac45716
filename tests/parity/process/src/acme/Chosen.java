package acme;
import java.time.*;
import java.util.*;
import java.math.BigDecimal;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.types.*;
import static org.apache.flink.table.annotation.ArgumentTrait.*;
@FunctionHint(output = @DataTypeHint("ROW<texts ARRAY<STRING>>"))
public class Chosen extends ProcessTableFunction<Row> {
    public void eval(Context ctx, @ArgumentHint({ROW_SEMANTIC_TABLE, PASS_COLUMNS_THROUGH}) Row r, ColumnList columns, @ArgumentHint(isOptional = true, type = @DataTypeHint("STRING")) String sep) {
        List<String> out = new ArrayList<>();
        for (String c : columns.getNames()) out.add(c + (sep == null ? "=" : sep) + r.getField(c));
        collect(Row.of((Object) out.toArray(new String[0])));
    }
}

package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** LISTAGG: the values that are not NULL, joined by the separator that came with the last one. */
public final class Concatenation extends Accumulator {
    private static final UTF8String COMMA = UTF8String.fromString(",");

    private final int column;
    private final int separatorColumn;
    private transient List<UTF8String> values;
    private transient UTF8String separator;

    /** @param separatorColumn the column of the separator, or -1 for a comma */
    public Concatenation(int column, int separatorColumn) {
        this.column = column;
        this.separatorColumn = separatorColumn;
    }

    @Override
    StructType schema() {
        return new StructType()
                .add("values", DataTypes.createArrayType(DataTypes.StringType, false))
                .add("separator", DataTypes.StringType);
    }

    @Override
    void reset() {
        values = new ArrayList<>();
        separator = COMMA;
    }

    @Override
    void load(InternalRow saved) {
        reset();
        merge(saved);
    }

    @Override
    InternalRow save() {
        return Rows.of(new GenericArrayData(values.toArray()), separator);
    }

    @Override
    void add(InternalRow row) {
        if (takesPart(row)) {
            values.add(row.getUTF8String(column));
        }
    }

    @Override
    void retract(InternalRow row) {
        if (takesPart(row)) {
            values.remove(row.getUTF8String(column));
        }
    }

    private boolean takesPart(InternalRow row) {
        if (row.isNullAt(column)) {
            return false;
        }
        if (separatorColumn >= 0) {
            separator = row.getUTF8String(separatorColumn);
        }
        return true;
    }

    @Override
    void merge(InternalRow saved) {
        Object[] more = saved.getArray(0).toObjectArray(DataTypes.StringType);
        if (more.length > 0) {
            Stream.of(more).map(UTF8String.class::cast).forEach(values::add);
            separator = saved.getUTF8String(1);
        }
    }

    @Override
    boolean mergesInOrder() {
        return true;
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        return values.isEmpty() ? null : UTF8String.concatWs(separator, values.toArray(UTF8String[]::new));
    }
}

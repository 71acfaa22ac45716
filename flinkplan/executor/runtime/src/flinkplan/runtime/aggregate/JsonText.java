package flinkplan.runtime.aggregate;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** JSON_ARRAYAGG and JSON_OBJECTAGG: values that are JSON texts already, an object's with their keys. */
public final class JsonText extends Accumulator {
    private static final UTF8String NULL = UTF8String.fromString("null");

    private final int keyColumn;
    private final int valueColumn;
    private final boolean skipNulls;
    private transient List<UTF8String> members;

    /** @param keyColumn the column of an object's keys, or -1: an array */
    public JsonText(int keyColumn, int valueColumn, boolean skipNulls) {
        this.keyColumn = keyColumn;
        this.valueColumn = valueColumn;
        this.skipNulls = skipNulls;
    }

    @Override
    StructType schema() {
        return new StructType().add("members", DataTypes.createArrayType(DataTypes.StringType, false));
    }

    @Override
    void reset() {
        members = new ArrayList<>();
    }

    @Override
    void load(InternalRow saved) {
        reset();
        for (Object member : saved.getArray(0).toObjectArray(DataTypes.StringType)) {
            members.add((UTF8String) member);
        }
    }

    @Override
    InternalRow save() {
        return Rows.of(new GenericArrayData(members.toArray()));
    }

    @Override
    void add(InternalRow row) {
        if (takesPart(row)) {
            UTF8String key = key(row);
            if (keyColumn >= 0 && members.stream().anyMatch(member -> member.startsWith(key))) {
                throw new IllegalStateException(
                        "JSON_OBJECTAGG: the key " + key + " occurs twice; keys must be unique");
            }
            members.add(UTF8String.concat(key, value(row)));
        }
    }

    @Override
    void retract(InternalRow row) {
        if (takesPart(row)) {
            members.remove(UTF8String.concat(key(row), value(row)));
        }
    }

    private boolean takesPart(InternalRow row) {
        return !(skipNulls && row.isNullAt(valueColumn));
    }

    /** What stands before a value: in an object the quoted key and a colon. */
    private UTF8String key(InternalRow row) {
        if (keyColumn < 0) {
            return UTF8String.EMPTY_UTF8;
        }
        if (row.isNullAt(keyColumn)) {
            throw new IllegalStateException("JSON_OBJECTAGG: a key is NULL; leave such rows out by FILTER (WHERE ...)");
        }
        char[] key = JsonStringEncoder.getInstance().quoteAsString(row.getUTF8String(keyColumn).toString());
        return UTF8String.fromString('"' + new String(key) + "\":");
    }

    private UTF8String value(InternalRow row) {
        return row.isNullAt(valueColumn) ? NULL : row.getUTF8String(valueColumn);
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    @Override
    Object value() {
        UTF8String[] texts = members.toArray(UTF8String[]::new);
        if (keyColumn >= 0) {
            Arrays.sort(texts); // an object's members stand in the order of their keys
        }
        UTF8String joined = UTF8String.concatWs(UTF8String.fromString(","), texts);
        return UTF8String.fromString(keyColumn < 0 ? "[" + joined + "]" : "{" + joined + "}");
    }
}

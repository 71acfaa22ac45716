package flinkplan.savepoint;

import java.util.List;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DistinctType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RawType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.StructuredType;
import org.apache.flink.table.types.logical.TimestampType;

/** Values of SQL's types, in Flink's internal form. */
abstract class DataCodec extends Codec {
    static final String BYTES = "VARBINARY(2147483647)";

    private final String type;

    DataCodec(String type) {
        this.type = type;
    }

    @Override
    String type() {
        return type;
    }

    @Override
    Object read(DataInputView in) {
        throw new UnsupportedOperationException();
    }

    @Override
    void write(Object value, DataOutputView out) {
        throw new UnsupportedOperationException();
    }

    /** The codec of a type. */
    static Codec of(LogicalType t) throws UnreadableException {
        String text = t.copy(true).getTypeRoot().name();
        switch (t.getTypeRoot()) {
            case BOOLEAN:
                return new ScalarCodecs.Booleans();
            case TINYINT:
                return new ScalarCodecs.Numbers("TINYINT", 1);
            case SMALLINT:
                return new ScalarCodecs.Numbers("SMALLINT", 2);
            case INTEGER:
                return new ScalarCodecs.Numbers("INT", 4);
            case BIGINT:
                return new ScalarCodecs.Numbers("BIGINT", 8);
            case DATE:
                return new ScalarCodecs.Numbers("DATE", 4);
            case TIME_WITHOUT_TIME_ZONE:
            case INTERVAL_YEAR_MONTH:
                return new ScalarCodecs.Numbers(t.copy(true).asSerializableString(), 4);
            case INTERVAL_DAY_TIME:
                return new ScalarCodecs.Numbers(t.copy(true).asSerializableString(), 8);
            case FLOAT:
                return new ScalarCodecs.Numbers("FLOAT", 4);
            case DOUBLE:
                return new ScalarCodecs.Numbers("DOUBLE", 8);
            case CHAR:
            case VARCHAR:
                return new ScalarCodecs.Texts(spelled(t));
            case BINARY:
            case VARBINARY:
                return new ScalarCodecs.ByteArrays(spelled(t));
            case DECIMAL:
                return new ScalarCodecs.Decimals((DecimalType) t);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return new ScalarCodecs.Timestamps("TIMESTAMP", ((TimestampType) t).getPrecision());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return new ScalarCodecs.Timestamps("TIMESTAMP_LTZ", ((LocalZonedTimestampType) t).getPrecision());
            case ARRAY:
                return new NestedCodecs.Arrays(((ArrayType) t).getElementType());
            case MAP:
                return new NestedCodecs.Maps("MAP", ((MapType) t).getKeyType(), ((MapType) t).getValueType());
            case MULTISET:
                return new NestedCodecs.Maps(
                        "MULTISET", ((MultisetType) t).getElementType(), new org.apache.flink.table.types.logical.IntType());
            case ROW:
                return new NestedCodecs.Rows(((RowType) t).getFieldNames(), t.getChildren(), false);
            case STRUCTURED_TYPE:
                List<String> names =
                        ((StructuredType) t).getAttributes().stream().map(StructuredType.StructuredAttribute::getName).toList();
                return new NestedCodecs.Rows(names, t.getChildren(), false);
            case DISTINCT_TYPE:
                return of(((DistinctType) t).getSourceType());
            case RAW:
                return ScalarCodecs.ofRaw((RawType<?>) t);
            default:
                if (text.equals("BITMAP")) { // which is new in Flink 2.3
                    return new ScalarCodecs.Bitmaps();
                }
                throw new UnreadableException("values of the type " + text + " are not decoded");
        }
    }

    private static String spelled(LogicalType t) {
        String name = t.copy(true).asSummaryString();
        return name.endsWith("(0)") ? (name.contains("CHAR") ? "VARCHAR(2147483647)" : BYTES) : name;
    }
}

package flinkplan.bridge;

import java.lang.reflect.Array;
import java.util.List;
import org.apache.flink.table.data.ArrayData.ElementGetter;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.table.types.logical.utils.LogicalTypeUtils;
import org.apache.flink.types.ColumnList;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Converters by types of Flink.
 *
 * <p>Spark holds values as {@code executor/jvm/types.py} says: a timestamp of up to 6 digits as microseconds, a finer one
 * with the nanoseconds beside them.
 */
final class Converters {
    private static final int MICROSECOND_DIGITS = 6;
    private static final int MICROS = 1000;
    private static final StructType FINE =
            new StructType().add("micros", DataTypes.TimestampType).add("nanos", DataTypes.ShortType);

    private Converters() {}

    /** Between Spark's values and those of the type's class, as functions take and give them. */
    static Converter external(DataType type, ClassLoader classes) {
        LogicalType logical = type.getLogicalType();
        Class<?> external = type.getConversionClass();
        if (external == String.class) {
            return TEXT;
        }
        Converter internal = internal(logical);
        if (internal == COLUMNS) {
            return COLUMNS; // Flink has no converter of them
        }
        if (internal == Converter.SAME && isHeldAlike(logical) && Object.class != external) {
            Class<?> boxed = boxed(logical.getDefaultConversion());
            if (boxed == external || external.isPrimitive()) {
                return Converter.SAME;
            }
        }
        DataStructureConverter<Object, Object> converter = DataStructureConverters.getConverter(type);
        converter.open(classes);
        return new Converter() {
            @Override
            Object toFlink(Object value) {
                return converter.toExternal(internal.toFlink(value));
            }

            @Override
            Object toSpark(Object value) {
                return internal.toSpark(converter.toInternal(value));
            }
        };
    }

    private static boolean isHeldAlike(LogicalType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
            case FLOAT:
            case DOUBLE:
            case BINARY:
            case VARBINARY:
                return true;
            default:
                return false;
        }
    }

    private static Class<?> boxed(Class<?> type) {
        return java.lang.invoke.MethodType.methodType(type).wrap().returnType();
    }

    private static final Converter TEXT = new Converter() {
        @Override
        Object toFlink(Object value) {
            return value.toString();
        }

        @Override
        Object toSpark(Object value) {
            return UTF8String.fromString((String) value);
        }
    };

    /** Between Spark's values and those that Flink holds inside. */
    static Converter internal(LogicalType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
            case FLOAT:
            case DOUBLE:
            case BINARY:
            case VARBINARY:
            case DATE:
            case TIME_WITHOUT_TIME_ZONE:
            case INTERVAL_YEAR_MONTH:
            case INTERVAL_DAY_TIME:
                return Converter.SAME;
            case CHAR:
            case VARCHAR:
                return STRING_DATA;
            case DECIMAL:
                return decimal((DecimalType) type);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return LogicalTypeChecks.getPrecision(type) > MICROSECOND_DIGITS ? NANOS : MICROSECONDS;
            case ARRAY:
                return array(type.getChildren().get(0));
            case MAP:
                return map(type.getChildren().get(0), type.getChildren().get(1));
            case MULTISET:
                return map(type.getChildren().get(0), new IntType(false));
            case ROW:
            case STRUCTURED_TYPE:
                return row(LogicalTypeChecks.getFieldTypes(type));
            case DESCRIPTOR:
                return COLUMNS;
            default:
                throw new IllegalArgumentException("values of the type " + type + " cannot be held in a Spark column");
        }
    }

    /** The names of columns, an array of texts, as an argument. */
    private static final Converter COLUMNS = new Converter() {
        @Override
        Object toFlink(Object value) {
            ArrayData array = (ArrayData) value;
            String[] names = new String[array.numElements()];
            for (int i = 0; i < names.length; i++) {
                names[i] = array.getUTF8String(i).toString();
            }
            return ColumnList.of(names);
        }

        @Override
        Object toSpark(Object value) {
            throw new UnsupportedOperationException("functions take names of columns, and do not give them");
        }
    };

    private static final Converter STRING_DATA = new Converter() {
        @Override
        Object toFlink(Object value) {
            return BinaryStringData.fromBytes(((UTF8String) value).getBytes());
        }

        @Override
        Object toSpark(Object value) {
            return UTF8String.fromBytes(((StringData) value).toBytes());
        }
    };

    private static final Converter MICROSECONDS = new Converter() {
        @Override
        Object toFlink(Object value) {
            return moment((Long) value, 0);
        }

        @Override
        Object toSpark(Object value) {
            return micros((TimestampData) value);
        }
    };

    private static final Converter NANOS = new Converter() {
        @Override
        Object toFlink(Object value) {
            InternalRow row = (InternalRow) value;
            return moment(row.getLong(0), row.getShort(1));
        }

        @Override
        Object toSpark(Object value) {
            TimestampData time = (TimestampData) value;
            short nanos = (short) (time.getNanoOfMillisecond() % MICROS);
            return new GenericInternalRow(new Object[] {micros(time), nanos});
        }
    };

    private static TimestampData moment(long micros, int nanos) {
        return TimestampData.fromEpochMillis(
                Math.floorDiv(micros, MICROS), (int) Math.floorMod(micros, (long) MICROS) * MICROS + nanos);
    }

    private static long micros(TimestampData time) {
        return time.getMillisecond() * MICROS + time.getNanoOfMillisecond() / MICROS;
    }

    private static Converter decimal(DecimalType type) {
        int precision = type.getPrecision();
        int scale = type.getScale();
        return new Converter() {
            @Override
            Object toFlink(Object value) {
                return DecimalData.fromBigDecimal(((Decimal) value).toJavaBigDecimal(), precision, scale);
            }

            @Override
            Object toSpark(Object value) {
                return Decimal.apply(((DecimalData) value).toBigDecimal(), precision, scale);
            }
        };
    }

    private static Converter array(LogicalType element) {
        Converter converter = internal(element);
        ElementGetter getter = org.apache.flink.table.data.ArrayData.createElementGetter(element);
        org.apache.spark.sql.types.DataType sparkType = sparkType(element);
        Class<?> internal = LogicalTypeUtils.toInternalConversionClass(element); // functions are handed the array itself
        return new Converter() {
            @Override
            Object toFlink(Object value) {
                ArrayData array = (ArrayData) value;
                Object[] elements = (Object[]) Array.newInstance(internal, array.numElements());
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = array.isNullAt(i) ? null : converter.toFlink(array.get(i, sparkType));
                }
                return new GenericArrayData(elements);
            }

            @Override
            Object toSpark(Object value) {
                return sparkArray((org.apache.flink.table.data.ArrayData) value, getter, converter);
            }
        };
    }

    private static ArrayData sparkArray(
            org.apache.flink.table.data.ArrayData array, ElementGetter getter, Converter converter) {
        Object[] elements = new Object[array.size()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = converter.toSparkOrNull(getter.getElementOrNull(array, i));
        }
        return new org.apache.spark.sql.catalyst.util.GenericArrayData(elements);
    }

    private static Converter map(LogicalType key, LogicalType value) {
        Converter keys = internal(key);
        Converter values = internal(value);
        ElementGetter keyGetter = org.apache.flink.table.data.ArrayData.createElementGetter(key);
        ElementGetter valueGetter = org.apache.flink.table.data.ArrayData.createElementGetter(value);
        org.apache.spark.sql.types.DataType keyType = sparkType(key);
        org.apache.spark.sql.types.DataType valueType = sparkType(value);
        return new Converter() {
            @Override
            Object toFlink(Object given) {
                org.apache.spark.sql.catalyst.util.MapData map = (org.apache.spark.sql.catalyst.util.MapData) given;
                java.util.Map<Object, Object> entries = new java.util.LinkedHashMap<>();
                for (int i = 0; i < map.numElements(); i++) {
                    Object each = map.valueArray().isNullAt(i) ? null : map.valueArray().get(i, valueType);
                    entries.put(keys.toFlinkOrNull(map.keyArray().get(i, keyType)), values.toFlinkOrNull(each));
                }
                return new GenericMapData(entries);
            }

            @Override
            Object toSpark(Object given) {
                MapData map = (MapData) given;
                return new ArrayBasedMapData(
                        sparkArray(map.keyArray(), keyGetter, keys), sparkArray(map.valueArray(), valueGetter, values));
            }
        };
    }

    private static Converter row(List<LogicalType> types) {
        int width = types.size();
        Converter[] converters = new Converter[width];
        RowData.FieldGetter[] getters = new RowData.FieldGetter[width];
        org.apache.spark.sql.types.DataType[] sparkTypes = new org.apache.spark.sql.types.DataType[width];
        for (int i = 0; i < width; i++) {
            converters[i] = internal(types.get(i));
            getters[i] = RowData.createFieldGetter(types.get(i), i);
            sparkTypes[i] = sparkType(types.get(i));
        }
        return new Converter() {
            @Override
            Object toFlink(Object value) {
                InternalRow row = (InternalRow) value;
                GenericRowData made = new GenericRowData(width);
                for (int i = 0; i < width; i++) {
                    made.setField(i, row.isNullAt(i) ? null : converters[i].toFlink(row.get(i, sparkTypes[i])));
                }
                return made;
            }

            @Override
            Object toSpark(Object value) {
                RowData row = (RowData) value;
                Object[] fields = new Object[width];
                for (int i = 0; i < width; i++) {
                    fields[i] = converters[i].toSparkOrNull(getters[i].getFieldOrNull(row));
                }
                return new GenericInternalRow(fields);
            }
        };
    }

    /** What Spark holds values of a type as. */
    static org.apache.spark.sql.types.DataType sparkType(LogicalType type) {
        List<LogicalType> children = type.getChildren();
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return DataTypes.BooleanType;
            case TINYINT:
                return DataTypes.ByteType;
            case SMALLINT:
                return DataTypes.ShortType;
            case INTEGER:
            case TIME_WITHOUT_TIME_ZONE:
            case INTERVAL_YEAR_MONTH:
                return DataTypes.IntegerType;
            case BIGINT:
            case INTERVAL_DAY_TIME:
                return DataTypes.LongType;
            case FLOAT:
                return DataTypes.FloatType;
            case DOUBLE:
                return DataTypes.DoubleType;
            case DATE:
                return DataTypes.DateType;
            case BINARY:
            case VARBINARY:
                return DataTypes.BinaryType;
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return DataTypes.createDecimalType(decimal.getPrecision(), decimal.getScale());
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                boolean isFine = LogicalTypeChecks.getPrecision(type) > MICROSECOND_DIGITS;
                return isFine ? FINE : DataTypes.TimestampType;
            case DESCRIPTOR:
                return DataTypes.createArrayType(DataTypes.StringType);
            case ARRAY:
                return DataTypes.createArrayType(sparkType(children.get(0)));
            case MAP:
                return DataTypes.createMapType(sparkType(children.get(0)), sparkType(children.get(1)));
            case MULTISET:
                return DataTypes.createMapType(sparkType(children.get(0)), DataTypes.IntegerType);
            case ROW:
            case STRUCTURED_TYPE:
                StructType struct = new StructType();
                for (LogicalType field : LogicalTypeChecks.getFieldTypes(type)) {
                    struct = struct.add("f" + struct.length(), sparkType(field));
                }
                return struct;
            default:
                return DataTypes.StringType;
        }
    }

    static boolean isRow(LogicalType type) {
        return type.is(LogicalTypeRoot.ROW) || type.is(LogicalTypeRoot.STRUCTURED_TYPE);
    }
}

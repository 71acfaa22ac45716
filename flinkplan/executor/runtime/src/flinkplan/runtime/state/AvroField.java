package flinkplan.runtime.state;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeArrayWriter;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The values of a type in Avro's binary encoding, written from a row or an array of Spark's and read into one, without the
 * records of Avro's own library in between.
 */
abstract class AvroField {
    /** The place of NULL in Avro's union, and that of the type; -1: there is no union. */
    private int nullBranch = -1;

    private int branch = -1;

    /** What values are read into. */
    final UnsafeWriter writer;

    AvroField(UnsafeWriter writer) {
        this.writer = writer;
    }

    abstract void writeValue(SpecializedGetters values, int ordinal, AvroBytes to);

    abstract void readValue(AvroSource from, int ordinal);

    void readNull(int ordinal) {
        writer.setNull8Bytes(ordinal);
    }

    final void write(SpecializedGetters values, int ordinal, AvroBytes to) {
        boolean isNull = values.isNullAt(ordinal);
        if (branch >= 0) {
            to.writeNumber(isNull ? nullBranch : branch);
        } else if (isNull) {
            throw new NullPointerException("NULL in a state that has none");
        }
        if (!isNull) {
            writeValue(values, ordinal, to);
        }
    }

    final void read(AvroSource from, int ordinal) {
        if (branch >= 0 && from.readNumber() == nullBranch) {
            readNull(ordinal);
        } else {
            readValue(from, ordinal);
        }
    }

    /**
     * @param writer what values are read into
     * @return null where there is something in the type whose encoding is not known here
     */
    static AvroField of(DataType type, Schema schema, UnsafeWriter writer) {
        if (!schema.isUnion()) {
            return ofValue(type, schema, writer);
        }
        List<Schema> branches = schema.getTypes();
        int nullBranch = branches.size() != 2 ? -1 : branches.get(0).getType() == Schema.Type.NULL ? 0 : 1;
        if (nullBranch < 0 || branches.get(nullBranch).getType() != Schema.Type.NULL) {
            return null;
        }
        AvroField field = ofValue(type, branches.get(1 - nullBranch), writer);
        if (field != null) {
            field.nullBranch = nullBranch;
            field.branch = 1 - nullBranch;
        }
        return field;
    }

    private static AvroField ofValue(DataType type, Schema schema, UnsafeWriter writer) {
        if (type instanceof StructType struct) {
            UnsafeRowWriter nested = new UnsafeRowWriter(writer, struct.length());
            AvroField[] fields = fields(struct, schema, nested);
            return fields == null ? null : new OfStruct(writer, nested, fields);
        }
        if (type instanceof ArrayType array) {
            UnsafeArrayWriter nested = new UnsafeArrayWriter(writer, width(array.elementType()));
            AvroField element = of(array.elementType(), schema.getElementType(), nested);
            return element == null ? null : new OfArray(writer, nested, element);
        }
        if (type instanceof DecimalType decimal) {
            return schema.getType() == Schema.Type.FIXED ? new OfDecimal(writer, decimal, schema.getFixedSize()) : null;
        }
        return ofAtomic(type, writer);
    }

    /** Those of a record, in their order; null where there is something whose encoding is not known here. */
    static AvroField[] fields(StructType struct, Schema record, UnsafeWriter writer) {
        AvroField[] fields = new AvroField[struct.length()];
        for (int i = 0; i < fields.length; i++) {
            Schema.Field field = record.getFields().get(i);
            boolean isSame = field.name().equals(struct.apply(i).name());
            fields[i] = isSame ? of(struct.apply(i).dataType(), field.schema(), writer) : null;
            if (fields[i] == null) {
                return null;
            }
        }
        return fields;
    }

    private static AvroField ofAtomic(DataType type, UnsafeWriter writer) {
        if (type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType) {
            return new OfLong(writer);
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return new OfInt(writer);
        }
        if (type instanceof StringType) {
            return new OfString(writer);
        }
        if (type instanceof BinaryType) {
            return new OfBinary(writer);
        }
        if (type instanceof BooleanType) {
            return new OfBoolean(writer);
        }
        if (type instanceof DoubleType) {
            return new OfDouble(writer);
        }
        return type instanceof FloatType ? new OfFloat(writer) : null;
    }

    /** How many bytes an element of an array takes where its values have a fixed width. */
    private static int width(DataType type) {
        if (type instanceof BooleanType) {
            return 1;
        }
        boolean isShort = type instanceof IntegerType || type instanceof DateType || type instanceof FloatType;
        return isShort ? Integer.BYTES : Long.BYTES;
    }

    private static final class OfLong extends AvroField {
        OfLong(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            to.writeNumber(values.getLong(ordinal));
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            writer.write(ordinal, from.readNumber());
        }
    }

    private static final class OfInt extends AvroField {
        OfInt(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            to.writeNumber(values.getInt(ordinal));
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            writer.write(ordinal, (int) from.readNumber());
        }

        @Override
        void readNull(int ordinal) {
            writer.setNull4Bytes(ordinal);
        }
    }

    private static final class OfString extends AvroField {
        OfString(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            UTF8String text = values.getUTF8String(ordinal);
            int length = text.numBytes();
            to.writeNumber(length);
            int place = to.reserve(length);
            text.writeToMemory(to.array(), Platform.BYTE_ARRAY_OFFSET + (long) place);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            int length = from.skipped();
            writer.write(ordinal, from.bytes, from.place - length, length);
        }
    }

    private static final class OfBinary extends AvroField {
        OfBinary(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            byte[] bytes = values.getBinary(ordinal);
            to.writeNumber(bytes.length);
            to.writeAll(bytes);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            int length = from.skipped();
            writer.write(ordinal, from.bytes, from.place - length, length);
        }
    }

    private static final class OfBoolean extends AvroField {
        OfBoolean(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            to.writeByte(values.getBoolean(ordinal) ? 1 : 0);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            writer.write(ordinal, from.readByte() == 1);
        }

        @Override
        void readNull(int ordinal) {
            writer.setNull1Bytes(ordinal);
        }
    }

    private static final class OfDouble extends AvroField {
        OfDouble(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            to.writeFixed(Double.doubleToRawLongBits(values.getDouble(ordinal)), Double.BYTES);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            writer.write(ordinal, Double.longBitsToDouble(from.readFixed(Double.BYTES)));
        }
    }

    private static final class OfFloat extends AvroField {
        OfFloat(UnsafeWriter writer) {
            super(writer);
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            to.writeFixed(Float.floatToRawIntBits(values.getFloat(ordinal)), Float.BYTES);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            writer.write(ordinal, Float.intBitsToFloat((int) from.readFixed(Float.BYTES)));
        }

        @Override
        void readNull(int ordinal) {
            writer.setNull4Bytes(ordinal);
        }
    }

    /** As many bytes as its precision needs, the highest one first. */
    private static final class OfDecimal extends AvroField {
        private final int precision;
        private final int scale;
        private final int size;

        OfDecimal(UnsafeWriter writer, DecimalType type, int size) {
            super(writer);
            this.precision = type.precision();
            this.scale = type.scale();
            this.size = size;
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            byte[] unscaled = values.getDecimal(ordinal, precision, scale)
                    .toJavaBigDecimal()
                    .unscaledValue()
                    .toByteArray();
            int sign = unscaled[0] < 0 ? -1 : 0;
            for (int i = unscaled.length; i < size; i++) {
                to.writeByte(sign);
            }
            to.writeAll(unscaled);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            BigInteger unscaled = new BigInteger(from.bytes, from.place, size);
            from.place += size;
            BigDecimal value = new BigDecimal(unscaled, scale);
            writer.write(ordinal, Decimal.apply(value, precision, scale), precision, scale);
        }

        @Override
        void readNull(int ordinal) {
            writer.write(ordinal, (Decimal) null, precision, scale);
        }
    }

    private static final class OfStruct extends AvroField {
        private final UnsafeRowWriter nested;
        private final AvroField[] fields;

        OfStruct(UnsafeWriter writer, UnsafeRowWriter nested, AvroField[] fields) {
            super(writer);
            this.nested = nested;
            this.fields = fields;
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            SpecializedGetters row = values.getStruct(ordinal, fields.length);
            for (int i = 0; i < fields.length; i++) {
                fields[i].write(row, i, to);
            }
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            int begin = writer.cursor();
            nested.resetRowWriter();
            for (int i = 0; i < fields.length; i++) {
                fields[i].read(from, i);
            }
            writer.setOffsetAndSizeFromPreviousCursor(ordinal, begin);
        }
    }

    /** All elements in one block, and an empty one behind it. */
    private static final class OfArray extends AvroField {
        private final UnsafeArrayWriter nested;
        private final AvroField element;

        OfArray(UnsafeWriter writer, UnsafeArrayWriter nested, AvroField element) {
            super(writer);
            this.nested = nested;
            this.element = element;
        }

        @Override
        void writeValue(SpecializedGetters values, int ordinal, AvroBytes to) {
            ArrayData array = values.getArray(ordinal);
            int count = array.numElements();
            if (count > 0) {
                to.writeNumber(count);
                for (int i = 0; i < count; i++) {
                    element.write(array, i, to);
                }
            }
            to.writeNumber(0);
        }

        @Override
        void readValue(AvroSource from, int ordinal) {
            int begin = writer.cursor();
            int count = (int) from.readNumber();
            nested.initialize(count);
            for (int i = 0; i < count; i++) {
                element.read(from, i);
            }
            if (count != 0 && from.readNumber() != 0) {
                throw new IllegalStateException("an array of a state has several blocks");
            }
            writer.setOffsetAndSizeFromPreviousCursor(ordinal, begin);
        }
    }
}

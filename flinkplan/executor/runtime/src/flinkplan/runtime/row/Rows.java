package flinkplan.runtime.row;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoder;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.RowEncoder;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.Iterator;

/** Spark's internal rows, which kernels read, keep and emit without converting their values. */
public final class Rows {
    /** What Spark calls the records around those of a state. */
    private static final Set<String> STATE_RECORDS = Set.of("topLevelRecord", "key", "userKey", "value");

    private Rows() {}

    /** An encoder that passes internal rows of this schema through. */
    public static Encoder<InternalRow> encoder(StructType schema) {
        return encoder(schema, new BitSet());
    }

    /** The columns that a source of this schema declares. */
    public static Column[] columns(StructType schema) {
        return Arrays.stream(schema.fields())
                .map(field -> Column.create(field.name(), field.dataType(), field.nullable()))
                .toArray(Column[]::new);
    }

    /** An encoder for states, which packs the columns that their encoding cannot hold. */
    public static Encoder<InternalRow> stateEncoder(StructType schema) {
        BitSet packed = new BitSet();
        Set<String> names = new HashSet<>(STATE_RECORDS);
        for (int i = 0; i < schema.length(); i++) {
            StructField field = schema.apply(i);
            boolean ambiguous = Packed.isAmbiguous(field.name(), field.dataType(), names);
            packed.set(i, ambiguous || Packed.isNeeded(field.dataType()));
        }
        return encoder(schema, packed);
    }

    /** The schema of the rows that an encoder of this class takes, before any of their columns is packed. */
    public static StructType schema(Encoder<InternalRow> encoder) {
        return ((RowCopy) ((ExpressionEncoder<InternalRow>) encoder).objDeserializer()).schema();
    }

    /** Whether an encoder of this class packs columns. */
    public static boolean packs(Encoder<InternalRow> encoder) {
        return ((RowCopy) ((ExpressionEncoder<InternalRow>) encoder).objDeserializer()).packs();
    }

    /** The same of rows some columns of which are {@link Packed}. */
    @SuppressWarnings("unchecked")
    public static Encoder<InternalRow> encoder(StructType schema, BitSet packed) {
        List<Expression> fields = new ArrayList<>();
        StructType encoded = new StructType();
        Expression row = new BoundReference(0, schema, false);
        for (int i = 0; i < schema.length(); i++) {
            StructField field = schema.apply(i);
            Expression value = new GetStructField(row, i, Option.empty());
            fields.add(new Literal(UTF8String.fromString(field.name()), DataTypes.StringType));
            fields.add(packed.get(i) ? new Packed(value) : value);
            encoded = packed.get(i) ? encoded.add(field.name(), DataTypes.BinaryType) : encoded.add(field);
        }
        Expression serializer = new CreateNamedStruct(asScala(fields));
        AgnosticEncoder<?> shape = RowEncoder.encoderFor(encoded);
        return new RowEncoding((AgnosticEncoder<InternalRow>) shape, serializer, new RowCopy(schema, packed));
    }

    /** A projection of rows of this schema to some of their columns; it reuses its result. */
    public static UnsafeProjection projection(StructType schema, int[] columns) {
        List<Expression> references = new ArrayList<>();
        for (int column : columns) {
            StructField field = schema.apply(column);
            references.add(new BoundReference(column, field.dataType(), field.nullable()));
        }
        return UnsafeProjection.create(asScala(references));
    }

    /** The schema of some columns. */
    public static StructType select(StructType schema, int[] columns) {
        StructType selected = new StructType();
        for (int column : columns) {
            selected = selected.add(schema.apply(column));
        }
        return selected;
    }

    /** The struct type of a column. */
    public static StructType struct(StructType schema, int column) {
        return (StructType) schema.apply(column).dataType();
    }

    /** All rows that are left, in a list to be sorted. */
    public static List<InternalRow> list(Iterator<InternalRow> rows) {
        List<InternalRow> list = new ArrayList<>();
        rows.foreach(list::add);
        return list;
    }

    public static InternalRow of(Object... values) {
        return new GenericInternalRow(values);
    }

    public static InternalRow nulls(int width) {
        return new GenericInternalRow(width);
    }
}

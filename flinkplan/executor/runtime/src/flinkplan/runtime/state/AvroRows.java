package flinkplan.runtime.state;

import org.apache.spark.sql.avro.SchemaConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.types.StructType;

/** Rows of a schema in the encoding that Spark's state store gives them in Avro. */
final class AvroRows {
    private final UnsafeRowWriter row;
    private final AvroField[] fields;
    private final AvroSource source = new AvroSource();

    private AvroRows(UnsafeRowWriter row, AvroField[] fields) {
        this.row = row;
        this.fields = fields;
    }

    /** Null where there is something in the schema whose encoding is not known here. */
    static AvroRows of(StructType schema) {
        UnsafeRowWriter row = new UnsafeRowWriter(schema.length());
        AvroField[] fields = AvroField.fields(schema, SchemaConverters.toAvroTypeWithDefaults(schema), row);
        return fields == null ? null : new AvroRows(row, fields);
    }

    void write(InternalRow values, AvroBytes to) {
        for (int i = 0; i < fields.length; i++) {
            fields[i].write(values, i, to);
        }
    }

    /** The row that begins at a place of an array; the next call uses it again. */
    UnsafeRow read(byte[] bytes, int place) {
        source.pointTo(bytes, place);
        row.reset();
        row.zeroOutNullBytes();
        for (int i = 0; i < fields.length; i++) {
            fields[i].read(source, i);
        }
        return row.getRow();
    }
}

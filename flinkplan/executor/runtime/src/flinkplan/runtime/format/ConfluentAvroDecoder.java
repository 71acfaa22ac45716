package flinkplan.runtime.format;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The formats {@code avro-confluent} and {@code debezium-avro-confluent}: a zero, the id of the schema that the record
 * was written with, and the record.
 *
 * <p>Fields are found by their names, as Avro resolves the schema of the record with that of the columns. Sources:
 * Flink's {@code ConfluentSchemaRegistryCoder}, {@code RegistryAvroDeserializationSchema} and
 * {@code DebeziumAvroDeserializationSchema}.
 */
final class ConfluentAvroDecoder implements Decoder {
    static final int HEADER = 5;
    private static final FlinkType TEXT =
            new FlinkType("VARCHAR", Integer.MAX_VALUE, 0, 0, List.of(), List.of(), false, false);

    private final AvroValues.Reader reader;
    private final int[] projection;
    private final boolean isChangelog;
    private final String schema;
    private final SchemaRegistry registry;
    private transient Map<Integer, ResolvingDecoder> resolving;
    private transient BinaryDecoder input;

    /** @param projection the indexes of the fields that rows have, in order */
    ConfluentAvroDecoder(FlinkType row, List<Integer> projection, FormatOptions options, boolean isChangelog) {
        AvroValues values = new AvroValues(options);
        reader = isChangelog ? values.reader(changes(row)) : values.record(row);
        this.projection = projection.stream().mapToInt(i -> i).toArray();
        this.isChangelog = isChangelog;
        schema = options.get("schema", null);
        registry = new SchemaRegistry(options.get("url", null), options.get("authorization", null));
    }

    /** The record of a change of a row. */
    static FlinkType changes(FlinkType row) {
        List<FlinkType> fields = List.of(row, row, TEXT);
        return new FlinkType("ROW", 0, 0, 0, fields, List.of("before", "after", "op"), false, false);
    }

    @Override
    public void decode(byte[] buffer, int from, int to, Rows rows) throws IOException {
        if (isChangelog && from == to) {
            return;
        }
        if (to - from < HEADER || buffer[from] != 0) {
            throw new IOException("it does not begin with a zero and the id of a schema");
        }
        int id = 0;
        for (int i = 1; i < HEADER; i++) {
            id = id << 8 | buffer[from + i] & 0xff;
        }
        InternalRow record;
        try {
            ResolvingDecoder in = resolving(id);
            input = DecoderFactory.get().binaryDecoder(buffer, from + HEADER, to - from - HEADER, input);
            in.configure(input);
            record = (InternalRow) reader.read(in);
        } catch (AvroRuntimeException e) {
            throw new IOException("it was written with the schema " + id + ": " + e.getMessage(), e);
        }
        if (isChangelog) {
            change(record, rows);
        } else {
            rows.add(INSERT, projected(record));
        }
    }

    private ResolvingDecoder resolving(int id) throws IOException {
        if (resolving == null) {
            resolving = new HashMap<>();
        }
        ResolvingDecoder known = resolving.get(id);
        if (known == null) {
            Schema columns = new Schema.Parser().parse(schema);
            known = DecoderFactory.get().resolvingDecoder(registry.schema(id), columns, null);
            resolving.put(id, known);
        }
        return known;
    }

    private void change(InternalRow change, Rows rows) throws IOException {
        Object[] fields = ((GenericInternalRow) change).values();
        InternalRow before = (InternalRow) fields[0];
        InternalRow after = (InternalRow) fields[1];
        UTF8String op = (UTF8String) fields[2];
        switch (String.valueOf(op)) {
            case "c", "r" -> rows.add(INSERT, projected(present(after, "after")));
            case "u" -> {
                Object[] old = projected(present(before, "before"));
                rows.add(UPDATE_BEFORE, old);
                rows.add(UPDATE_AFTER, projected(present(after, "after")));
            }
            case "d" -> rows.add(DELETE, projected(present(before, "before")));
            default -> throw new IOException("'" + op + "' is no operation");
        }
    }

    private static InternalRow present(InternalRow row, String name) throws IOException {
        if (row == null) {
            throw new IOException(
                    "the field '" + name + "' of the change is NULL; tables of PostgreSQL need REPLICA IDENTITY FULL");
        }
        return row;
    }

    private Object[] projected(InternalRow row) {
        Object[] all = ((GenericInternalRow) row).values();
        Object[] values = new Object[projection.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = all[projection[i]];
        }
        return values;
    }
}

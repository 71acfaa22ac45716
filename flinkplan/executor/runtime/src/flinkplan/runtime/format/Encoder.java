package flinkplan.runtime.format;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes rows as messages, each with its line end. */
public interface Encoder extends Serializable {

    /** Writes a row; {@code kind}: 0 +I, 1 -U, 2 +U, 3 -D. */
    void encode(byte kind, InternalRow row, OutputStream out) throws IOException;

    /** The encoder of the format {@code name} for rows of {@code type}. */
    static Encoder of(String name, FlinkType type, FormatOptions options) {
        return switch (name) {
            case "json", "debezium-json", "canal-json", "maxwell-json", "ogg-json" ->
                    new JsonEncoder(name, type, options);
            case "csv" -> new CsvEncoder(type, options);
            case "avro" -> new AvroEncoder(type, options);
            case "protobuf" -> new ProtobufEncoder(type, options);
            case "avro-confluent", "debezium-avro-confluent" ->
                    new ConfluentAvroEncoder(type, options, name.startsWith("debezium"));
            case "raw" -> new RawEncoder(type, options);
            default -> throw new IllegalArgumentException("unknown format " + name);
        };
    }
}

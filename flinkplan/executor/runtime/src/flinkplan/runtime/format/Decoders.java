package flinkplan.runtime.format;

import java.util.List;

/** Finds the decoder of a format. */
public final class Decoders {
    private Decoders() {}

    /**
     * The decoder of the format {@code name}.
     *
     * @param type the row of all the fields that a message holds
     * @param projection the indexes of the fields that rows have, in order
     */
    public static Decoder of(String name, FlinkType type, List<Integer> projection, FormatOptions options) {
        return switch (name) {
            case "json" -> new JsonDecoder(project(type, projection), options);
            case "csv" -> new CsvDecoder(type, projection, options);
            case "raw" -> new RawDecoder(project(type, projection), options);
            case "avro" -> new AvroDecoder(type, projection, options);
            case "protobuf" -> new ProtobufDecoder(type, projection, options);
            case "avro-confluent", "debezium-avro-confluent" -> new ConfluentAvroDecoder(
                    type, projection, options, name.startsWith("debezium"));
            case "debezium-json", "canal-json", "maxwell-json" -> {
                FlinkType read = project(type, projection);
                yield new ChangelogJsonDecoder(name, read, JsonDecoder.mapper(read), options);
            }
            case "ogg-json" -> new ChangelogJsonDecoder(
                    name, project(type, projection), JsonDecoder.mapper(type), options); // Flink's reads all columns
            default -> throw new IllegalArgumentException("unknown format " + name);
        };
    }

    private static FlinkType project(FlinkType row, List<Integer> projection) {
        return new FlinkType(
                row.root(),
                0,
                0,
                0,
                projection.stream().map(row::child).toList(),
                projection.stream().map(row.names()::get).toList(),
                row.isRequired(),
                false);
    }
}

package flinkplan.runtime.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.format.Decoders;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.FormatOptions;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a table over files is, as the option {@code spec} tells it in JSON.
 *
 * @param path a file or a directory, read with all that is below it
 * @param pattern a regular expression that whole paths must match, or null
 * @param type the row that messages hold
 * @param projection the fields of {@code type} that rows have
 * @param partitions the partition columns that rows have behind them, read off the path
 * @param only the partitions to read, or null
 * @param metadata the keys of the metadata columns that rows have behind those
 * @param isBatch whether all files are read at once
 * @param settles whether an empty batch follows new files, in which a new watermark takes effect
 * @param isRealTime whether lines are read as they are added
 * @param ticks whether it is told then that time goes on
 * @param turn when files are read that are one of several sources
 * @param isTimed whether rows move a watermark, behind which others are late that the same task reads
 * @param filesPerBatch how many files a micro-batch takes up at most; 0: all that are there
 */
record FileSpec(
        String path,
        String pattern,
        String format,
        FormatOptions options,
        FlinkType type,
        List<Integer> projection,
        List<String> partitions,
        List<FlinkType> partitionTypes,
        String defaultPartition,
        List<Map<String, String>> only,
        List<String> metadata,
        boolean isBatch,
        boolean settles,
        boolean isRealTime,
        boolean ticks,
        Turn turn,
        boolean isTimed,
        int filesPerBatch)
        implements Serializable {

    /** All the time, in the first batch alone, or in those behind it. */
    enum Turn {
        ALONE,
        FIRST,
        LAST
    }

    private static final ObjectMapper MAPPER = new ObjectMapper();

    static FileSpec parse(String text) {
        try {
            JsonNode json = MAPPER.readTree(text);
            List<FlinkType> partitionTypes = new ArrayList<>();
            json.get("partitionTypes").forEach(type -> partitionTypes.add(FlinkType.parse(type)));
            return new FileSpec(
                    json.get("path").asText(),
                    json.get("pattern").isNull() ? null : json.get("pattern").asText(),
                    json.get("format").asText(),
                    new FormatOptions(texts(json.get("options"))),
                    FlinkType.parse(json.get("type")),
                    list(json.get("projection"), Integer.class),
                    list(json.get("partitions"), String.class),
                    partitionTypes,
                    json.get("defaultPartition").asText(),
                    json.get("only").isNull() ? null : partitions(json.get("only")),
                    list(json.get("metadata"), String.class),
                    json.get("batch").asBoolean(),
                    json.get("settles").asBoolean(),
                    json.get("realTime").asBoolean(),
                    json.get("ticks").asBoolean(),
                    Turn.valueOf(json.get("turn").asText()),
                    json.get("timed").asBoolean(),
                    json.get("filesPerBatch").asInt());
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the spec of the file source is malformed", e);
        }
    }

    private static <T> List<T> list(JsonNode json, Class<T> element) {
        List<T> values = new ArrayList<>();
        json.forEach(value -> values.add(MAPPER.convertValue(value, element)));
        return values;
    }

    private static Map<String, String> texts(JsonNode json) {
        Map<String, String> values = new LinkedHashMap<>();
        json.properties().forEach(entry -> values.put(entry.getKey(), entry.getValue().asText()));
        return values;
    }

    private static List<Map<String, String>> partitions(JsonNode json) {
        List<Map<String, String>> partitions = new ArrayList<>();
        json.forEach(partition -> partitions.add(texts(partition)));
        return partitions;
    }

    Decoder decoder() {
        return Decoders.of(format, type, projection, options);
    }

    /** How many columns rows have, but for kind and number. */
    int width() {
        return projection.size() + partitions.size() + metadata.size();
    }

    /** The files that are there now, in the order of their paths. */
    List<SourceFile> files() throws IOException {
        return FileListing.of(this);
    }

    /** Whether each line end ends a message. */
    boolean isCutByLines() {
        return !format.equals("csv");
    }
}

package flinkplan.functions;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.TableSemantics;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.RowKind;

/** A table that a process table function takes, as its call says. */
public final class TableArgument implements TableSemantics {
    private final DataType type;
    private final JsonNode json;

    /**
     * @param json {@code input}: the number of the input; {@code partition}, {@code order}: columns; {@code directions};
     *     {@code time}: a column or -1; {@code kinds}: those of its rows, where they are known
     */
    TableArgument(DataType type, JsonNode json) {
        this.type = type;
        this.json = json;
    }

    /** The number of the input. */
    public int input() {
        return json.get("input").asInt();
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public int[] partitionByColumns() {
        return columns("partition");
    }

    @Override
    public int[] orderByColumns() {
        return columns("order");
    }

    @Override
    public SortDirection[] orderByDirections() {
        List<SortDirection> directions = new ArrayList<>();
        json.get("directions").forEach(each -> directions.add(SortDirection.valueOf(each.asText())));
        return directions.toArray(SortDirection[]::new);
    }

    @Override
    public int timeColumn() {
        return json.get("time").asInt();
    }

    @Override
    public Optional<ChangelogMode> changelogMode() {
        return json.hasNonNull("kinds") ? Optional.of(mode(json.get("kinds"))) : Optional.empty();
    }

    private int[] columns(String key) {
        int[] columns = new int[json.get(key).size()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = json.get(key).get(i).asInt();
        }
        return columns;
    }

    /** The changelog mode of kinds as plans name them; {@code ~DELETE}: of deleted rows the key alone is sure. */
    public static ChangelogMode mode(JsonNode kinds) {
        ChangelogMode.Builder builder = ChangelogMode.newBuilder();
        boolean byKey = false;
        Set<String> names = new LinkedHashSet<>();
        kinds.forEach(kind -> names.add(kind.asText()));
        for (String name : names) {
            byKey |= name.startsWith("~");
            builder.addContainedKind(RowKind.valueOf(name.replace("~", "")));
        }
        return builder.keyOnlyDeletes(byKey).build();
    }
}

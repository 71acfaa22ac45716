package flinkplan.runtime.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The places in files that are still written, in the order in which they were taken up.
 *
 * <p>Offsets of older versions have {@code positions}, {@code current} and {@code rows} alone.
 */
final class GrowingFileOffset extends Offset {
    static final GrowingFileOffset INITIAL =
            new GrowingFileOffset(new long[0], new long[0], Map.of(), Set.of(), -1, 0, 0, 0);

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final long[] positions;
    private final long[] prints;
    private final Map<Integer, SourceFile> changed;
    private final Set<Integer> gone;
    private final int current;
    private final int rows;
    private final long time;
    private final long until;

    /**
     * @param changed files that are not as the log has them, or not read to their ends
     * @param gone files that are not there any more
     */
    private GrowingFileOffset(
            long[] positions,
            long[] prints,
            Map<Integer, SourceFile> changed,
            Set<Integer> gone,
            int current,
            int rows,
            long time,
            long until) {
        this.positions = positions;
        this.prints = prints;
        this.changed = changed;
        this.gone = gone;
        this.current = current;
        this.rows = rows;
        this.time = time;
        this.until = until;
    }

    /** @param log the files as they were taken up */
    static GrowingFileOffset of(GrowingFileStream.Reached reached, List<SourceFile> log) {
        List<FilePlace> files = reached.files();
        Map<Integer, SourceFile> changed = new TreeMap<>();
        Set<Integer> gone = new TreeSet<>();
        for (int i = 0; i < files.size(); i++) {
            FilePlace place = files.get(i);
            SourceFile file = place.file();
            if (place.position() == FilePlace.OVER) {
                continue;
            }
            boolean isGone = file.inode() == 0 && log.get(i).inode() != 0;
            boolean isSame = file.path().equals(log.get(i).path()) && (isGone || file.inode() == log.get(i).inode());
            if (!isSame || file.size() > place.position()) {
                changed.put(i, file);
            } else if (isGone) {
                gone.add(i);
            }
        }
        return new GrowingFileOffset(
                files.stream().mapToLong(FilePlace::position).toArray(),
                files.stream()
                        .mapToLong(place -> place.position() == FilePlace.OVER ? 0 : place.print())
                        .toArray(),
                changed,
                gone,
                reached.current(),
                reached.rows(),
                reached.time(),
                reached.until());
    }

    static GrowingFileOffset parse(String json) {
        try {
            JsonNode value = MAPPER.readTree(json);
            Map<Integer, SourceFile> changed = new TreeMap<>();
            Set<Integer> gone = new TreeSet<>();
            value.path("gone").forEach(index -> gone.add(index.asInt()));
            for (Map.Entry<String, JsonNode> file : value.path("files").properties()) {
                changed.put(Integer.valueOf(file.getKey()), MAPPER.treeToValue(file.getValue(), SourceFile.class));
            }
            long[] positions = MAPPER.convertValue(value.get("positions"), long[].class);
            boolean hasPrints = value.has("prints");
            return new GrowingFileOffset(
                    positions,
                    hasPrints ? MAPPER.convertValue(value.get("prints"), long[].class) : new long[positions.length],
                    changed,
                    gone,
                    value.get("current").asInt(),
                    value.get("rows").asInt(),
                    value.path("time").asLong(),
                    value.path("until").asLong());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many files have been taken up. */
    int taken() {
        return positions.length;
    }

    int current() {
        return current;
    }

    int rows() {
        return rows;
    }

    long time() {
        return time;
    }

    long until() {
        return until;
    }

    /** The files and the places in them, in a list that can grow. */
    List<FilePlace> files(List<SourceFile> log) {
        List<FilePlace> files = new ArrayList<>();
        for (int i = 0; i < positions.length; i++) {
            SourceFile taken = log.get(i);
            long inode = gone.contains(i) ? 0 : taken.inode();
            SourceFile read = new SourceFile(taken.path(), positions[i], taken.modified(), inode);
            files.add(new FilePlace(changed.getOrDefault(i, read), positions[i], prints[i]));
        }
        return files;
    }

    @Override
    public String json() {
        ObjectNode value = MAPPER.createObjectNode();
        value.set("positions", MAPPER.valueToTree(positions));
        value.set("prints", MAPPER.valueToTree(prints));
        ObjectNode files = value.putObject("files");
        changed.forEach((index, file) -> files.set(String.valueOf(index), MAPPER.valueToTree(file)));
        value.set("gone", MAPPER.valueToTree(gone));
        value.put("current", current).put("rows", rows).put("time", time).put("until", until);
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}

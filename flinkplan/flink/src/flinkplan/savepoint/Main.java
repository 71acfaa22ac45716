package flinkplan.savepoint;

import java.io.EOFException;
import java.io.UTFDataFormatException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The program that reads and writes savepoints.
 *
 * <p>Each argument is a file in JSON that names a savepoint and the folder to write its tables to, where {@code
 * manifest.json} appears when all is written. In the place of a savepoint may stand a plan, whose tables give no rows,
 * with the options of its session: the savepoint is that of its operators without entries. Or it names the folder of
 * tables and of {@code manifest.json}, and the folder of the savepoint to write, its target. Where something fails, the
 * reason is in {@code error} in the folder.
 */
public final class Main {
    private static final int NODE_IDS = 2048;
    private static final Map<String, Map<String, String>> DEFAULTS = new HashMap<>();

    private Main() {}

    public static void main(String[] args) throws Exception {
        List<JsonNode> requests = new ArrayList<>();
        for (String request : args) {
            requests.add(new ObjectMapper().readTree(Path.of(request).toFile()));
        }
        // the filter of classes is the whole JVM's, and jobs need others; their savepoints are our own
        boolean hasPlan = requests.stream().anyMatch(request -> request.has("plan"));
        ClassLoader classes = hasPlan ? Main.class.getClassLoader() : TrustedClasses.loader();
        try (EmptySavepoint empty = new EmptySavepoint()) {
            for (JsonNode request : requests) {
                run(request, classes, empty);
            }
        }
        System.exit(0); // threads of clusters stay
    }

    private static void run(JsonNode request, ClassLoader classes, EmptySavepoint empty) throws Exception {
        Path folder = Path.of(request.get("folder").asText());
        try {
            if (request.has("target")) {
                JsonNode manifest = new ObjectMapper().readTree(folder.resolve("manifest.json").toFile());
                new SavepointWriter(manifest, folder, Path.of(request.get("target").asText()), classes).write();
                return;
            }
            String pointer =
                    request.has("plan")
                            ? empty.take(Path.of(request.get("plan").asText()), request.get("options"), folder)
                            : request.get("savepoint").asText();
            Savepoint savepoint = new Savepoint(pointer, uids(request), folder, classes);
            Files.write(folder.resolve("manifest.json"), savepoint.read());
        } catch (Throwable e) {
            Files.writeString(folder.resolve("error"), message(e));
        }
    }

    private static String message(Throwable error) {
        if (error instanceof EOFException || error instanceof UTFDataFormatException) {
            return "it is damaged";
        }
        String message = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        Throwable cause = error.getCause();
        boolean isSaid = cause == null || cause.getMessage() == null || message.contains(cause.getMessage());
        return isSaid ? message : message + ": " + message(cause);
    }

    /** UIDs by the ids of operators: those of the plan, and all that nodes with small ids may have. */
    private static Map<String, String> uids(JsonNode request) {
        Map<String, String> uids = new HashMap<>();
        for (JsonNode transformation : request.get("transformations")) {
            uids.putAll(DEFAULTS.computeIfAbsent(transformation.asText(), Main::defaultUids));
        }
        for (JsonNode uid : request.get("uids")) {
            uids.put(OperatorIds.of(uid.asText()), uid.asText());
        }
        return uids;
    }

    private static Map<String, String> defaultUids(String transformation) {
        Map<String, String> uids = new HashMap<>();
        for (int id = 1; id <= NODE_IDS; id++) {
            String uid = id + "_" + transformation;
            uids.put(OperatorIds.of(uid), uid);
        }
        return uids;
    }
}

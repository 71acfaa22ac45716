package flinkplan.functions;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The program that tells what the planner has to know of functions in jars.
 *
 * <p>Its arguments are two files. The first has the request in JSON: {@code jars}; {@code describe}, whether all
 * functions in them are described; {@code calls}, as {@link CallTypes} takes them, {@code values}, as {@link
 * Constants} does, and {@code changelogs}, as {@link Changelogs} does. The answer goes to the second: {@code functions},
 * by class, and the others in the order of the request.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        JsonNode request = json.readTree(new File(args[0]));
        ObjectNode answer = json.createObjectNode();
        JsonNode jars = request.get("jars");
        URL[] urls = new URL[jars.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = Path.of(jars.get(i).asText()).toUri().toURL();
        }
        try (URLClassLoader classes = new URLClassLoader(urls, Main.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(classes);
            Loaded loaded = new Loaded(classes);
            Signatures signatures = new Signatures(loaded);
            ObjectNode functions = answer.putObject("functions");
            if (request.get("describe").asBoolean()) {
                for (JsonNode jar : jars) {
                    for (String name : FunctionClasses.in(jar.asText())) {
                        functions.set(name, signatures.describe(name));
                    }
                }
            }
            ArrayNode calls = answer.putArray("calls");
            for (JsonNode call : request.get("calls")) {
                calls.add(CallTypes.infer(loaded, call));
            }
            ArrayNode changelogs = answer.putArray("changelogs");
            for (JsonNode question : request.get("changelogs")) {
                changelogs.add(Changelogs.answer(loaded, question));
            }
            ArrayNode values = answer.putArray("values");
            for (JsonNode call : request.get("values")) {
                values.add(Constants.evaluate(loaded, call));
            }
        }
        Files.write(Path.of(args[1]), json.writerWithDefaultPrettyPrinter().writeValueAsBytes(answer));
        System.exit(0); // threads of functions stay
    }
}

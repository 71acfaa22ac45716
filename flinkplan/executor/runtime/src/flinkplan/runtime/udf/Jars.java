package flinkplan.runtime.udf;

import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkFiles;

/**
 * The jars of functions: those of Flink, with what calls functions, and the user's.
 *
 * @param flink paths on the driver; where there is no such file, as on another machine, the one that Spark has sent
 * @param user the same
 */
public record Jars(List<String> flink, List<String> user) implements Serializable {
    private static final String[] SHARED = {
        "java.", "javax.", "jdk.", "sun.", "scala.", "org.apache.spark.", "flinkplan.runtime.", "org.slf4j.",
        "org.apache.logging.", "org.apache.log4j.", "org.apache.commons.logging."
    };
    private static final String[] FLINKS = {
        "java.", "javax.", "jdk.", "sun.", "scala.", "org.apache.spark.", "org.apache.flink.", "flinkplan.",
        "org.slf4j.", "org.apache.logging.", "org.apache.log4j.", "org.apache.commons.logging."
    };
    private static final String CALLS = "flinkplan.bridge.Calls";
    private static final Map<List<String>, ClassLoader> FLINK = new ConcurrentHashMap<>();
    private static final Map<Jars, ClassLoader> USERS = new ConcurrentHashMap<>();

    public Jars {
        flink = List.copyOf(flink);
        user = List.copyOf(user);
    }

    /** The loader of the user's classes, one in a JVM. */
    public ClassLoader classes() {
        return USERS.computeIfAbsent(this, jars -> new ChildFirstLoader(urls(jars.user), flinkClasses(), FLINKS));
    }

    /** What makes calls of functions, in the jars of {@link #flink}. */
    CallFactory calls() {
        try {
            Class<?> calls = Class.forName(CALLS, true, flinkClasses());
            return (CallFactory) calls.getConstructor(ClassLoader.class).newInstance(classes());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("functions cannot be called: " + e, e);
        }
    }

    private ClassLoader flinkClasses() {
        return FLINK.computeIfAbsent(
                flink, jars -> new ChildFirstLoader(urls(jars), Jars.class.getClassLoader(), SHARED));
    }

    private static URL[] urls(List<String> paths) {
        return paths.stream().map(Jars::url).toArray(URL[]::new);
    }

    private static URL url(String text) {
        Path path = Path.of(text);
        try {
            return (Files.exists(path) ? path : Path.of(SparkFiles.get(path.getFileName().toString())))
                    .toUri()
                    .toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package flinkplan.runtime.state;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;

/**
 * Declares state without Hadoop's defaults.
 *
 * <p>For each encoder of a variable's keys and values Spark makes a configuration of Hadoop's, which looks for its
 * resources in all jars and reads 160 KB of XML, for an option of Avro files that state has none of.
 */
public final class Undefaulted extends ClassLoader {
    private static final String RESOURCES = "core-";
    /** One for each loader: Spark compiles the same code again for another one. */
    private static final Map<ClassLoader, WeakReference<Undefaulted>> LOADERS = new WeakHashMap<>();

    private Undefaulted(ClassLoader parent) {
        super(parent);
    }

    /** What {@code work} gives, done where Hadoop's configurations find nothing to read. */
    public static <T> T get(Supplier<T> work) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(above(before));
        try {
            return work.get();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** The same of work that gives nothing. */
    public static void run(Runnable work) {
        get(() -> {
            work.run();
            return null;
        });
    }

    private static synchronized Undefaulted above(ClassLoader parent) {
        WeakReference<Undefaulted> known = LOADERS.get(parent);
        Undefaulted found = known == null ? null : known.get();
        if (found == null) {
            found = new Undefaulted(parent);
            LOADERS.put(parent, new WeakReference<>(found));
        }
        return found;
    }

    @Override
    public URL getResource(String name) {
        return name.startsWith(RESOURCES) ? null : super.getResource(name);
    }
}

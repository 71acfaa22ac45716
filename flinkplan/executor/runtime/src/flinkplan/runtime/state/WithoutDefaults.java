package flinkplan.runtime.state;

import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.SoftReference;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * A class loader under which Hadoop finds no settings.
 *
 * <p>For each state in Avro Spark makes a Hadoop configuration, to ask it for one key that only files are read by; to
 * answer, it looks through all jars and parses its defaults each time, which is half of the first batch of a query with
 * a few operators.
 */
public final class WithoutDefaults extends ClassLoader {
    /** Those over the class loaders of tasks and of the driver: what Spark compiles is kept by class loader. */
    private static final Map<ClassLoader, Reference<WithoutDefaults>> KNOWN = new WeakHashMap<>();

    private WithoutDefaults(ClassLoader parent) {
        super(parent);
    }

    /** Something that may fail, and has a result. */
    public interface Work<T, E extends Exception> {
        T get() throws E;
    }

    /** Does something under it. */
    public static void run(Runnable work) {
        call(() -> {
            work.run();
            return null;
        });
    }

    /** The same of something that has a result. */
    public static <T, E extends Exception> T call(Work<T, E> work) throws E {
        Thread thread = Thread.currentThread();
        ClassLoader own = thread.getContextClassLoader();
        thread.setContextClassLoader(over(own));
        try {
            return work.get();
        } finally {
            thread.setContextClassLoader(own);
        }
    }

    /** That over another class loader, which finds all else. */
    public static synchronized ClassLoader over(ClassLoader parent) {
        Reference<WithoutDefaults> known = KNOWN.get(parent);
        WithoutDefaults loader = known == null ? null : known.get();
        if (loader == null) {
            loader = new WithoutDefaults(parent);
            KNOWN.put(parent, new SoftReference<>(loader));
        }
        return loader;
    }

    private static boolean isSettings(String name) {
        return name.endsWith("-default.xml") || name.endsWith("-site.xml");
    }

    @Override
    public URL getResource(String name) {
        return isSettings(name) ? null : super.getResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        return isSettings(name) ? Collections.emptyEnumeration() : super.getResources(name);
    }
}

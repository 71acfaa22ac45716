package flinkplan.runtime.pyspark;

import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.classic.SparkSession;

/**
 * Begins a session without the extension that MLlib brings along: to register functions on vectors, it starts Scala's
 * reflection, which takes longer than making the context.
 */
public final class LeanSession {
    private static final String EXTENSIONS = "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider";
    private static final String MLLIB = "/spark-mllib_";

    private LeanSession() {}

    /** Makes the default session of a context, unless there is one. */
    public static void begin(SparkContext context) {
        Thread thread = Thread.currentThread();
        ClassLoader own = thread.getContextClassLoader();
        thread.setContextClassLoader(new WithoutMllib(own));
        try {
            SparkSession.builder().sparkContext(context).getOrCreate();
        } finally {
            thread.setContextClassLoader(own);
        }
    }

    /** Finds all that another class loader finds, but for that extension. */
    private static final class WithoutMllib extends ClassLoader {
        WithoutMllib(ClassLoader parent) {
            super(parent);
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            Enumeration<URL> resources = super.getResources(name);
            if (!name.equals(EXTENSIONS)) {
                return resources;
            }
            List<URL> others = new ArrayList<>(Collections.list(resources));
            others.removeIf(url -> url.getPath().contains(MLLIB));
            return Collections.enumeration(others);
        }
    }
}

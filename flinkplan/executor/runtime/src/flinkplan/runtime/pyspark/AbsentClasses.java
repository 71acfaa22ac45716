package flinkplan.runtime.pyspark;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A class loader that knows which classes and files there are not.
 *
 * <p>To tell what a name stands for, Py4J asks for a class of each part of it, and the compiler of Spark's generated code
 * for classes of several packages; Hadoop asks for files of settings. To find that there is none takes a look into each
 * of Spark's three hundred jars, which was a tenth of what a JVM does that runs small jobs.
 *
 * <p>Those jars stay as they are. Others may come, which are asked each time.
 */
public final class AbsentClasses extends ClassLoader {
    private static final int MOST = 20_000;

    static {
        registerAsParallelCapable();
    }

    private final URLClassLoader added;
    private final Set<String> absent = ConcurrentHashMap.newKeySet();

    /** @param added that of the jars that are there beside Spark's, above which those are */
    private AbsentClasses(URLClassLoader added) {
        super(added);
        this.added = added;
    }

    /** Has all threads find classes in this way that find them as the current thread does, and those that they start. */
    public static void remember() {
        if (Thread.currentThread().getContextClassLoader() instanceof URLClassLoader added
                && added.getParent() == ClassLoader.getSystemClassLoader()) {
            AbsentClasses loader = new AbsentClasses(added);
            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getContextClassLoader() == added)
                    .forEach(thread -> thread.setContextClassLoader(loader));
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        String file = name.replace('.', '/') + ".class";
        if (absent.contains(file) && added.findResource(file) == null) {
            throw new Absent(name);
        }
        try {
            return added.loadClass(name);
        } catch (ClassNotFoundException e) {
            remember(file);
            throw e;
        }
    }

    @Override
    public URL getResource(String name) {
        if (absent.contains(name)) {
            return added.findResource(name);
        }
        URL found = added.getResource(name);
        if (found == null) {
            remember(name);
        }
        return found;
    }

    private void remember(String file) {
        if (absent.size() < MOST) {
            absent.add(file);
        }
    }

    /** Says so without where: it is not looked at, and to find that out takes longer than the answer. */
    private static final class Absent extends ClassNotFoundException {
        Absent(String name) {
            super(name);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }
}

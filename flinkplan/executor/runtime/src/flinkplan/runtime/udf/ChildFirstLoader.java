package flinkplan.runtime.udf;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Loads classes from its own jars before it asks its parent, so that functions find the versions of libraries that they
 * were built with, not Spark's.
 */
final class ChildFirstLoader extends URLClassLoader {
    private final String[] parentFirst;

    /** @param parentFirst how the names of classes begin that the parent has the say about */
    ChildFirstLoader(URL[] jars, ClassLoader parent, String... parentFirst) {
        super(jars, parent);
        this.parentFirst = parentFirst;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            for (String prefix : parentFirst) {
                if (name.startsWith(prefix)) {
                    return super.loadClass(name, resolve);
                }
            }
            try {
                return findClass(name);
            } catch (ClassNotFoundException e) {
                return super.loadClass(name, resolve);
            }
        }
    }

    @Override
    public URL getResource(String name) {
        URL own = findResource(name);
        return own == null ? super.getResource(name) : own;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        Set<URL> all = new LinkedHashSet<>(Collections.list(findResources(name)));
        all.addAll(Collections.list(super.getResources(name)));
        return Collections.enumeration(all);
    }
}

package flinkplan.functions;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.flink.table.functions.UserDefinedFunction;

/** The classes of functions in a jar, by the headers of its class files: no class is loaded that is not a function. */
final class FunctionClasses {
    private static final String BASE = UserDefinedFunction.class.getName();
    private static final String FLINK = "org.apache.flink.table.functions.";
    private static final int UTF8 = 1;
    private static final int INTEGER = 3;
    private static final int FLOAT = 4;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;
    private static final int PUBLIC = 0x0001;
    private static final int ABSTRACT = 0x0400;
    private static final int MAGIC_AND_VERSION = 8;

    private final Map<String, String> parents = new HashMap<>();
    private final Set<String> candidates = new TreeSet<>();

    /** The names of public classes that can be instantiated and extend a class of functions. */
    static Set<String> in(String jar) throws IOException {
        FunctionClasses classes = new FunctionClasses();
        try (JarFile file = new JarFile(jar)) {
            for (Enumeration<JarEntry> entries = file.entries(); entries.hasMoreElements(); ) {
                JarEntry entry = entries.nextElement();
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("-info.class")) {
                    try (InputStream stream = file.getInputStream(entry)) {
                        classes.read(new DataInputStream(stream));
                    }
                }
            }
        }
        Set<String> functions = new TreeSet<>();
        for (String name : classes.candidates) {
            if (classes.isFunction(name)) {
                functions.add(name);
            }
        }
        return functions;
    }

    private boolean isFunction(String name) {
        String parent = parents.get(name);
        for (int steps = 0; parent != null && steps < parents.size() + 1; steps++) {
            if (parent.equals(BASE) || (parent.startsWith(FLINK) && parent.endsWith("Function"))) {
                return true;
            }
            parent = parents.get(parent);
        }
        return false;
    }

    private void read(DataInputStream in) throws IOException {
        in.skipNBytes(MAGIC_AND_VERSION);
        int count = in.readUnsignedShort();
        String[] texts = new String[count];
        int[] names = new int[count];
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case UTF8:
                    texts[i] = in.readUTF();
                    break;
                case CLASS:
                    names[i] = in.readUnsignedShort();
                    break;
                case STRING:
                case METHOD_TYPE:
                case MODULE:
                case PACKAGE:
                    in.skipNBytes(Short.BYTES);
                    break;
                case METHOD_HANDLE:
                    in.skipNBytes(Byte.BYTES + Short.BYTES);
                    break;
                case LONG:
                case DOUBLE:
                    in.skipNBytes(Long.BYTES);
                    i++; // takes two places
                    break;
                case INTEGER:
                case FLOAT:
                default: // two references
                    in.skipNBytes(Integer.BYTES);
            }
        }
        int access = in.readUnsignedShort();
        String name = texts[names[in.readUnsignedShort()]].replace('/', '.');
        int parent = in.readUnsignedShort();
        if (parent != 0) {
            parents.put(name, texts[names[parent]].replace('/', '.'));
            if ((access & PUBLIC) != 0 && (access & ABSTRACT) == 0) {
                candidates.add(name);
            }
        }
    }
}

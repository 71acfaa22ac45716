package flinkplan.savepoint;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Which classes a savepoint may name. It is data of others: it names the classes of serializers, and holds types as
 * objects of Java's serialization.
 *
 * <p>Of the JVM's and Flink's classes only serializers, types and functions are found, none that runs code which a
 * savepoint brings along (Kryo, Java serialization of values, POJOs). In place of the job's own classes, which structured
 * types name, there are empty ones: their fields stand in the type.
 */
final class TrustedClasses extends ClassLoader {
    private static final List<String> PREFIXES =
            List.of(
                    "java.lang.",
                    "java.math.",
                    "java.time.",
                    "java.util.",
                    "org.apache.flink.api.common.typeutils.",
                    "org.apache.flink.api.java.tuple.",
                    "org.apache.flink.api.java.typeutils.runtime.",
                    "org.apache.flink.cep.",
                    "org.apache.flink.runtime.state.",
                    "org.apache.flink.streaming.api.operators.",
                    "org.apache.flink.streaming.api.windowing.windows.",
                    "org.apache.flink.table.api.dataview.",
                    "org.apache.flink.table.data.",
                    "org.apache.flink.table.dataview.",
                    "org.apache.flink.table.runtime.dataview.",
                    "org.apache.flink.table.runtime.functions.",
                    "org.apache.flink.table.runtime.generated.",
                    "org.apache.flink.table.runtime.operators.",
                    "org.apache.flink.table.runtime.typeutils.",
                    "org.apache.flink.table.runtime.util.",
                    "org.apache.flink.table.types.",
                    "org.apache.flink.types.");
    private static final List<String> REFUSED =
            List.of(
                    "java.lang.invoke.",
                    "java.lang.reflect.",
                    "java.util.concurrent.",
                    "java.util.jar.",
                    "java.util.logging.",
                    "java.util.zip.",
                    "org.apache.flink.api.java.typeutils.runtime.kryo.",
                    "org.apache.flink.api.java.typeutils.runtime.Pojo",
                    "org.apache.flink.api.common.typeutils.base.EnumSerializer",
                    "org.apache.flink.api.common.typeutils.base.GenericArraySerializer");
    private static final List<String> SERIALIZED =
            List.of(
                    "java.lang.Boolean",
                    "java.lang.Byte",
                    "java.lang.Character",
                    "java.lang.Class",
                    "java.lang.Double",
                    "java.lang.Enum",
                    "java.lang.Float",
                    "java.lang.Integer",
                    "java.lang.Long",
                    "java.lang.Number",
                    "java.lang.Object",
                    "java.lang.Short",
                    "java.lang.String",
                    "java.math.",
                    "java.time.",
                    "java.util.Arrays$ArrayList",
                    "java.util.ArrayList",
                    "java.util.Collections$",
                    "java.util.CollSer",
                    "java.util.EnumMap",
                    "java.util.HashMap",
                    "java.util.HashSet",
                    "java.util.ImmutableCollections$",
                    "java.util.LinkedHashMap",
                    "java.util.LinkedHashSet",
                    "java.util.LinkedList",
                    "java.util.Map",
                    "java.util.Optional",
                    "java.util.Set",
                    "java.util.List",
                    "org.apache.flink.api.common.typeutils.",
                    "org.apache.flink.api.java.tuple.",
                    "org.apache.flink.core.execution.SavepointFormatType",
                    "org.apache.flink.runtime.checkpoint.Checkpoint",
                    "org.apache.flink.runtime.checkpoint.SavepointType",
                    "org.apache.flink.runtime.checkpoint.SnapshotType",
                    "org.apache.flink.runtime.jobgraph.",
                    "org.apache.flink.table.api.dataview.",
                    "org.apache.flink.table.catalog.",
                    "org.apache.flink.table.data.",
                    "org.apache.flink.table.dataview.",
                    "org.apache.flink.table.runtime.functions.",
                    "org.apache.flink.table.runtime.generated.Generated",
                    "org.apache.flink.table.runtime.operators.rank.ComparableRecordComparator",
                    "org.apache.flink.table.runtime.typeutils.",
                    "org.apache.flink.table.types.",
                    "org.apache.flink.types.");

    private static final List<String> NOT_OF_JOBS =
            List.of("com.sun.", "flinkplan.", "java.", "javax.", "jdk.", "org.apache.flink.", "org.rocksdb.", "sun.");
    private static final Pattern NAME = Pattern.compile("(?:[\\p{L}_$][\\p{L}\\p{N}_$]*\\.)+[\\p{L}_$][\\p{L}\\p{N}_$]*");
    private static final int CLASS_FILE = 0xCAFEBABE;
    private static final int JAVA_8 = 52;
    private static final int PUBLIC_CLASS = 0x21;

    private TrustedClasses() {
        super(TrustedClasses.class.getClassLoader());
    }

    /** A loader that finds no other class; from now on no other class is read from serialized objects either. */
    static ClassLoader loader() {
        ObjectInputFilter.Config.setSerialFilter(TrustedClasses::check);
        return new TrustedClasses();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (isOf(name, PREFIXES) && !isOf(name, REFUSED)) {
            return super.loadClass(name, resolve);
        }
        if (isOf(name, NOT_OF_JOBS) || !NAME.matcher(name).matches()) {
            throw new ClassNotFoundException(name);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? emptyClass(name) : known;
        }
    }

    /** A class of a name without anything in it. */
    private Class<?> emptyClass(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(CLASS_FILE);
            out.writeShort(0);
            out.writeShort(JAVA_8);
            String[] names = {name.replace('.', '/'), "java/lang/Object"};
            out.writeShort(2 * names.length + 1);
            for (int i = 0; i < names.length; i++) {
                out.writeByte(7); // CONSTANT_Class
                out.writeShort(2 * i + 2);
                out.writeByte(1); // CONSTANT_Utf8
                out.writeUTF(names[i]);
            }
            out.writeShort(PUBLIC_CLASS);
            out.writeShort(1);
            out.writeShort(3);
            out.write(new byte[8]); // no interfaces, fields, methods or attributes
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return defineClass(name, bytes.toByteArray(), 0, bytes.size());
    }

    private static ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
        Class<?> cls = info.serialClass();
        if (cls == null) {
            return ObjectInputFilter.Status.UNDECIDED;
        }
        while (cls.isArray()) {
            cls = cls.getComponentType();
        }
        boolean isEmpty = cls.getClassLoader() instanceof TrustedClasses;
        boolean isKnown = isEmpty || cls.isPrimitive() || isOf(cls.getName(), SERIALIZED) && !isOf(cls.getName(), REFUSED);
        return isKnown ? ObjectInputFilter.Status.ALLOWED : ObjectInputFilter.Status.REJECTED;
    }

    private static boolean isOf(String name, List<String> prefixes) {
        return prefixes.stream().anyMatch(name::startsWith);
    }
}

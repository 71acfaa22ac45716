package flinkplan.savepoint;

import java.io.ObjectInputFilter;
import java.util.List;

/**
 * Which classes a savepoint may name. It is data of others: it names the classes of serializers, and holds types as
 * objects of Java's serialization.
 *
 * <p>Only Flink's own serializers, types and functions are found, none that runs code which a savepoint brings along
 * (Kryo, Java serialization of values, POJOs).
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
        if (!isOf(name, PREFIXES) || isOf(name, REFUSED)) {
            throw new ClassNotFoundException(name);
        }
        return super.loadClass(name, resolve);
    }

    private static ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
        Class<?> cls = info.serialClass();
        if (cls == null) {
            return ObjectInputFilter.Status.UNDECIDED;
        }
        while (cls.isArray()) {
            cls = cls.getComponentType();
        }
        boolean isKnown = cls.isPrimitive() || isOf(cls.getName(), SERIALIZED) && !isOf(cls.getName(), REFUSED);
        return isKnown ? ObjectInputFilter.Status.ALLOWED : ObjectInputFilter.Status.REJECTED;
    }

    private static boolean isOf(String name, List<String> prefixes) {
        return prefixes.stream().anyMatch(name::startsWith);
    }
}

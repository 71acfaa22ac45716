package flinkplan.runtime.state;

import java.lang.reflect.Field;

/** Fields of Spark's state store that it shows nobody. */
final class Fields {
    private Fields() {}

    static Object get(Object owner, String name) {
        try {
            return field(owner, name).get(owner);
        } catch (ReflectiveOperationException e) {
            throw unknown(e);
        }
    }

    static void set(Object owner, String name, Object value) {
        try {
            field(owner, name).set(owner, value);
        } catch (ReflectiveOperationException e) {
            throw unknown(e);
        }
    }

    private static Field field(Object owner, String name) throws NoSuchFieldException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static IllegalStateException unknown(ReflectiveOperationException e) {
        return new IllegalStateException("Spark's state store is not the one that is known", e);
    }
}

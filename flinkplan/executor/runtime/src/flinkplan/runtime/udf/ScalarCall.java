package flinkplan.runtime.udf;

/** A call of a function whose arguments and result are values as Spark holds them inside, null for NULL. */
public interface ScalarCall extends AutoCloseable {
    /** The call of a function without arguments. */
    default Object call() {
        return callAll();
    }

    default Object call(Object a) {
        return callAll(a);
    }

    default Object call(Object a, Object b) {
        return callAll(a, b);
    }

    Object callAll(Object... arguments);

    @Override
    void close();
}

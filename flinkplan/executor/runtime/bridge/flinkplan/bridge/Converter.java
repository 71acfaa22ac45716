package flinkplan.bridge;

/** Converts values between what Spark holds inside and what a function takes or gives; null stays null. */
abstract class Converter {
    /** Of a value that both hold alike. */
    static final Converter SAME = new Converter() {
        @Override
        Object toFlink(Object value) {
            return value;
        }

        @Override
        Object toSpark(Object value) {
            return value;
        }
    };

    abstract Object toFlink(Object value);

    abstract Object toSpark(Object value);

    final Object toFlinkOrNull(Object value) {
        return value == null ? null : toFlink(value);
    }

    final Object toSparkOrNull(Object value) {
        return value == null ? null : toSpark(value);
    }
}

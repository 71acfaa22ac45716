package flinkplan.functions;

import java.lang.reflect.Constructor;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;

/** Functions by the names of their classes, which come from one class loader. */
public final class Loaded {
    private final ClassLoader classes;
    private final DataTypeFactory types;

    public Loaded(ClassLoader classes) throws ReflectiveOperationException {
        this.classes = classes;
        Constructor<?> factory =
                Class.forName("org.apache.flink.table.catalog.DataTypeFactoryImpl")
                        .getDeclaredConstructor(ClassLoader.class, ReadableConfig.class, SerializerConfig.class);
        factory.setAccessible(true); // the class is public to its package alone
        types = (DataTypeFactory) factory.newInstance(classes, new Configuration(), new SerializerConfigImpl());
    }

    public ClassLoader classes() {
        return classes;
    }

    /** What makes Flink's types of Java's. */
    public DataTypeFactory types() {
        return types;
    }

    /** A new function of a class. */
    public UserDefinedFunction function(String name) throws ReflectiveOperationException {
        Class<?> type = Class.forName(name, true, classes);
        if (!UserDefinedFunction.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(name + " does not extend a class of Flink's functions");
        }
        UserDefinedFunction function = UserDefinedFunctionHelper.instantiateFunction(type);
        UserDefinedFunctionHelper.prepareInstance(new Configuration(), function);
        return function;
    }
}

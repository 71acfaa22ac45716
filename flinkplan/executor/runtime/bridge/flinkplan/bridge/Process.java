package flinkplan.bridge;

import flinkplan.functions.CallTypes;
import flinkplan.functions.Loaded;
import flinkplan.functions.Methods;
import flinkplan.functions.ProcessTypes;
import flinkplan.functions.TableArgument;
import flinkplan.runtime.udf.ProcessCall;
import flinkplan.runtime.udf.ProcessHost;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.TypeInferenceUtil.StateInfo;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Calls of a process table function: for each call states are made of what is kept, handed over, and written back.
 *
 * <p>Source: Flink's {@code ProcessTableRunner} and {@code ProcessTableRunnerGenerator}.
 */
final class Process implements ProcessCall {
    private final JsonNode json;
    private final ProcessTableFunction<Object> function;
    private final ProcessTypes types;
    private final ProcessContext context;
    private final List<ProcessState> states = new ArrayList<>();
    private final List<Argument> arguments = new ArrayList<>();
    private final DataStructureConverter<Object, Object> resultConverter;
    private final Converter result;
    private final boolean emitsRows;
    private final Method eval;
    private final Method onTimer;
    private ProcessHost host;

    static Process of(Loaded loaded, JsonNode json) {
        var function = Calls.instance(loaded, json);
        ProcessTypes types = CallTypes.ofProcess(loaded, function, json);
        Process made;
        try {
            made = new Process((ProcessTableFunction<?>) function, types, json, loaded.classes());
        } catch (RuntimeException e) { // whose class Spark's driver may not have
            throw new IllegalArgumentException(json.get("name").asText() + ": " + e.getMessage());
        }
        Calls.open(loaded, function, json);
        return made;
    }

    @SuppressWarnings("unchecked")
    private Process(ProcessTableFunction<?> function, ProcessTypes types, JsonNode json, ClassLoader classes) {
        this.json = json;
        this.function = (ProcessTableFunction<Object>) function;
        this.types = types;
        ChangelogMode emitted = TableArgument.mode(json.get("emits"));
        List<String> names = new ArrayList<>(types.states.keySet());
        List<Class<?>> stateClasses = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            StateInfo info = types.states.get(names.get(i));
            states.add(ProcessState.of(i, info.getDataType(), json.get("ttls").get(i).asLong(), classes));
            stateClasses.add(info.getDataType().getConversionClass());
        }
        List<Class<?>> classesOfAll = new ArrayList<>(stateClasses);
        int scalars = 0;
        for (int i = 0; i < types.declared.size(); i++) {
            DataType type = types.arguments.get(i);
            TableArgument table = types.tables.get(i);
            arguments.add(table == null ? new Scalar(scalars, type, classes) : new Table(table.input(), type, classes));
            scalars += table == null ? 1 : 0;
            classesOfAll.add(type.getConversionClass());
        }
        context = new ProcessContext(types, names, states, emitted);
        eval = Method.of(function, "eval", classesOfAll);
        boolean hasTimers = json.get("timers").asBoolean();
        onTimer = hasTimers ? Method.of(function, "onTimer", stateClasses) : null;
        DataType output = types.result;
        resultConverter = DataStructureConverters.getConverter(output);
        resultConverter.open(classes);
        result = Converters.internal(output.getLogicalType());
        emitsRows = Converters.isRow(output.getLogicalType());
        this.function.setCollector(new Collector<Object>() {
            @Override
            public void collect(Object value) {
                Process.this.collect(value);
            }

            @Override
            public void close() {}
        });
    }

    @Override
    public void at(ProcessHost host) {
        this.host = host;
        context.at(host);
        states.forEach(state -> state.at(host));
    }

    @Override
    public void eval(int table, InternalRow row, byte kind, InternalRow scalars, Long time) {
        context.begin(time, null);
        Object[] values = new Object[arguments.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = arguments.get(i).value(table, row, kind, scalars);
        }
        run(eval, values);
    }

    @Override
    public void onTimer(String name, long time) {
        if (onTimer == null) {
            throw new IllegalStateException(function.getClass().getName() + " sets timers and has no method onTimer");
        }
        context.begin(time, name);
        run(onTimer, new Object[0]);
    }

    private void run(Method method, Object[] values) {
        Object[] all = new Object[states.size() + values.length + (method.takesContext ? 1 : 0)];
        int at = 0;
        if (method.takesContext) {
            all[at++] = context;
        }
        for (ProcessState state : states) {
            all[at++] = state.load();
        }
        System.arraycopy(values, 0, all, at, values.length);
        try {
            Object ignored = (Object) method.handle.invokeExact(all);
        } catch (Throwable e) { // whatever the function raises
            throw Calls.failed(json, e);
        }
        states.forEach(ProcessState::store);
    }

    private void collect(Object value) {
        Object internal = resultConverter.toInternalOrNull(value);
        if (!emitsRows) {
            host.emit((byte) 0, new GenericInternalRow(new Object[] {result.toSparkOrNull(internal)}));
        } else if (internal != null) {
            byte kind = ((RowData) internal).getRowKind().toByteValue();
            context.check(RowKind.fromByteValue(kind));
            host.emit(kind, (InternalRow) result.toSpark(internal));
        }
    }

    /** What the function says of its arguments. */
    ProcessTypes types() {
        return types;
    }

    @Override
    public void close() {
        Calls.close(function);
    }

    /** A method of the function, with or without a context as its first argument. */
    private static final class Method {
        final MethodHandle handle;
        final boolean takesContext;

        private Method(MethodHandle handle, boolean takesContext) {
            this.handle = handle;
            this.takesContext = takesContext;
        }

        static Method of(Object function, String name, List<Class<?>> classes) {
            List<Class<?>> withContext = new ArrayList<>(List.of(ProcessContext.class));
            withContext.addAll(classes);
            try {
                return new Method(spread(function, name, withContext), true);
            } catch (ReflectiveOperationException e) {
                try {
                    return new Method(spread(function, name, classes), false);
                } catch (ReflectiveOperationException without) {
                    throw new IllegalArgumentException(without.getMessage(), without);
                }
            }
        }

        private static MethodHandle spread(Object function, String name, List<Class<?>> classes)
                throws ReflectiveOperationException {
            return Methods.bound(function, name, classes).asSpreader(Object[].class, classes.size());
        }
    }

    /** Gives an argument of {@code eval} for a row. */
    private interface Argument {
        Object value(int table, InternalRow row, byte kind, InternalRow scalars);
    }

    private static final class Scalar implements Argument {
        private final int position;
        private final Converter converter;
        private final org.apache.spark.sql.types.DataType type;

        Scalar(int position, DataType type, ClassLoader classes) {
            this.position = position;
            this.converter = Converters.external(type, classes);
            this.type = Converters.sparkType(type.getLogicalType());
        }

        @Override
        public Object value(int table, InternalRow row, byte kind, InternalRow scalars) {
            return scalars.isNullAt(position) ? null : converter.toFlink(scalars.get(position, type));
        }
    }

    private static final class Table implements Argument {
        private final int input;
        private final Converter internal;
        private final DataStructureConverter<Object, Object> external;

        Table(int input, DataType type, ClassLoader classes) {
            this.input = input;
            internal = Converters.internal(type.getLogicalType());
            external = DataStructureConverters.getConverter(type);
            external.open(classes);
        }

        @Override
        public Object value(int table, InternalRow row, byte kind, InternalRow scalars) {
            if (table != input) {
                return null;
            }
            RowData made = (RowData) internal.toFlink(row);
            made.setRowKind(RowKind.fromByteValue(kind));
            return external.toExternal(made);
        }
    }
}

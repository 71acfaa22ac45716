package flinkplan.bridge;

import flinkplan.functions.CallTypes;
import flinkplan.functions.Context;
import flinkplan.functions.Loaded;
import flinkplan.runtime.udf.AggregateCall;
import flinkplan.runtime.udf.AsyncCall;
import flinkplan.runtime.udf.CallFactory;
import flinkplan.runtime.udf.FunctionFailedException;
import flinkplan.runtime.udf.ProcessCall;
import flinkplan.runtime.udf.ScalarCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.functions.AsyncScalarFunction;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.TypeInferenceUtil;

/** Calls of functions by their descriptions in JSON. */
public final class Calls implements CallFactory {
    private final Loaded loaded;

    public Calls(ClassLoader classes) throws ReflectiveOperationException {
        loaded = new Loaded(classes);
    }

    @Override
    public ScalarCall scalar(String description) {
        Prepared call = prepared(description);
        return call.function instanceof AsyncScalarFunction ? new Awaited(new AsyncScalar(call)) : new Scalar(call);
    }

    @Override
    public AsyncCall async(String description) {
        return new AsyncScalar(prepared(description));
    }

    @Override
    public ScalarCall table(String description) {
        JsonNode json = read(description);
        if (json.hasNonNull("tables")) {
            return new RowProcess(Process.of(loaded, json), json);
        }
        Prepared call = prepared(description);
        return new Table(call, (TableFunction<?>) call.function);
    }

    @Override
    public ProcessCall process(String description) {
        return Process.of(loaded, read(description));
    }

    @Override
    public AggregateCall aggregate(String description) {
        Prepared call = prepared(description);
        return new Aggregate(call, (AggregateFunction<?, ?>) call.function);
    }

    private static JsonNode read(String description) {
        try {
            return new ObjectMapper().readTree(description);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Prepared prepared(String description) {
        JsonNode json = read(description);
        UserDefinedFunction function = instance(loaded, json);
        TypeInferenceUtil.Result types = CallTypes.of(loaded, function, json);
        open(loaded, function, json);
        return new Prepared(json, function, types, loaded.classes());
    }

    static UserDefinedFunction instance(Loaded loaded, JsonNode json) {
        try {
            return loaded.function(json.get("class").asText());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    static void open(Loaded loaded, UserDefinedFunction function, JsonNode json) {
        Map<String, String> parameters = new HashMap<>();
        json.get("parameters").fields().forEachRemaining(entry -> parameters.put(entry.getKey(), entry.getValue().asText()));
        try {
            function.open(new Context(parameters, loaded.classes(), json.get("task").asText()));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    static void close(UserDefinedFunction function) {
        try {
            function.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** The error that tells what a function has raised, and where. */
    static RuntimeException failed(JsonNode json, Throwable error) {
        if (error instanceof Error) {
            throw (Error) error;
        }
        StackTraceElement[] trace = error.getStackTrace();
        String place = trace.length > 0 ? " at " + trace[0] : "";
        return new FunctionFailedException(json.get("name").asText() + " raised " + error + place, error);
    }

    /** A function that is open, with the types of a call of it. */
    static final class Prepared {
        final JsonNode json;
        final UserDefinedFunction function;
        final List<DataType> arguments;
        final TypeInferenceUtil.Result types;
        final Converter[] converters;
        final Converter result;
        final ClassLoader classes;

        Prepared(JsonNode json, UserDefinedFunction function, TypeInferenceUtil.Result types, ClassLoader classes) {
            this.json = json;
            this.function = function;
            this.types = types;
            this.classes = classes;
            arguments = types.getExpectedArgumentTypes();
            converters =
                    arguments.stream().map(type -> Converters.external(type, classes)).toArray(Converter[]::new);
            result = Converters.external(types.getOutputDataType(), classes);
        }

        Object argument(int position, Object value) {
            return value == null ? null : converters[position].toFlink(value);
        }

        void close() {
            Calls.close(function);
        }

        RuntimeException failed(Throwable error) {
            return Calls.failed(json, error);
        }
    }
}

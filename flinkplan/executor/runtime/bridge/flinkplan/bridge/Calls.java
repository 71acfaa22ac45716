package flinkplan.bridge;

import flinkplan.functions.CallTypes;
import flinkplan.functions.Context;
import flinkplan.functions.Loaded;
import flinkplan.runtime.udf.AggregateCall;
import flinkplan.runtime.udf.AsyncCall;
import flinkplan.runtime.udf.CallFactory;
import flinkplan.runtime.udf.FunctionFailedException;
import flinkplan.runtime.udf.ScalarCall;
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
        Prepared call = prepared(description);
        return new Table(call, (TableFunction<?>) call.function);
    }

    @Override
    public AggregateCall aggregate(String description) {
        Prepared call = prepared(description);
        return new Aggregate(call, (AggregateFunction<?, ?>) call.function);
    }

    private Prepared prepared(String description) {
        try {
            JsonNode json = new ObjectMapper().readTree(description);
            UserDefinedFunction function = loaded.function(json.get("class").asText());
            TypeInferenceUtil.Result types = CallTypes.of(loaded, function, json);
            Map<String, String> parameters = new HashMap<>();
            json.get("parameters").fields().forEachRemaining(entry -> parameters.put(entry.getKey(), entry.getValue().asText()));
            function.open(new Context(parameters, loaded.classes(), json.get("task").asText()));
            return new Prepared(json, function, types, loaded.classes());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
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
            try {
                function.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        }

        RuntimeException failed(Throwable error) {
            if (error instanceof Error) {
                throw (Error) error;
            }
            String name = json.get("name").asText();
            StackTraceElement[] trace = error.getStackTrace();
            String place = trace.length > 0 ? " at " + trace[0] : "";
            return new FunctionFailedException(name + " raised " + error + place, error);
        }
    }
}

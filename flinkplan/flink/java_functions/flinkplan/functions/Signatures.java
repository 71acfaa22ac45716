package flinkplan.functions;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.StateTypeStrategy;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.StaticArgumentTrait;
import org.apache.flink.table.types.inference.TypeInference;
import org.apache.flink.table.types.inference.TypeStrategy;

/**
 * What the planner has to know of functions, as JSON.
 *
 * <p>A function whose types Flink extracts from its methods and annotations has a list of signatures. Where a class
 * infers types by code of its own, they are known only for a call: {@link CallTypes}.
 */
final class Signatures {
    private static final String STRATEGIES = "org.apache.flink.table.types.inference.strategies.";
    static final String ANY = "ANY";

    private final ObjectMapper json = new ObjectMapper();
    private final Loaded loaded;

    Signatures(Loaded loaded) {
        this.loaded = loaded;
    }

    /** The declaration of a function; one that Flink refuses has {@code error}. */
    ObjectNode describe(String name) {
        ObjectNode described = json.createObjectNode();
        try {
            UserDefinedFunction function = loaded.function(name);
            described.put("kind", function.getKind().name());
            described.put("deterministic", function.isDeterministic());
            described.put("stateless", UserDefinedFunctionHelper.isClassNameSerializable(function));
            described.put("constant_folding", function.supportsConstantFolding());
            ArrayNode requirements = described.putArray("requirements");
            function.getRequirements().stream().map(Enum::name).sorted().forEach(requirements::add);
            if (function.getKind() == FunctionKind.AGGREGATE) {
                ArrayNode methods = described.putArray("methods");
                for (String method : List.of("retract", "merge", "resetAccumulator")) {
                    if (has(function.getClass(), method)) {
                        methods.add(method);
                    }
                }
            }
            TypeInference inference = function.getTypeInference(loaded.types());
            if (function.getKind() == FunctionKind.PROCESS_TABLE) {
                described.set("process", ProcessSignature.describe(function, inference));
                return described;
            }
            ArrayNode signatures = signatures(inference);
            if (signatures != null) {
                described.set("signatures", signatures);
            }
        } catch (Throwable e) { // also errors of linking, as where the jar lacks what a class needs
            described.put("error", message(e));
        }
        return described;
    }

    private static boolean has(Class<?> type, String name) {
        for (var method : type.getMethods()) {
            if (method.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    public static String message(Throwable error) {
        String message = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        Throwable cause = error.getCause();
        boolean isSaid = cause == null || cause.getMessage() == null || message.contains(cause.getMessage());
        return isSaid ? message : message + " " + message(cause);
    }

    /** All signatures; null where types are inferred for each call. */
    private ArrayNode signatures(TypeInference inference) throws ReflectiveOperationException {
        ArrayNode result = json.createArrayNode();
        List<Object> alternatives = new ArrayList<>();
        collect(inference.getInputTypeStrategy(), alternatives);
        Optional<List<StaticArgument>> arguments = inference.getStaticArguments();
        for (Object alternative : alternatives) {
            ObjectNode signature = arguments.isPresent() ? named(arguments.get()) : signature(alternative);
            DataType output = explicit(inference.getOutputTypeStrategy(), alternative);
            if (signature == null || output == null) {
                return null;
            }
            signature.put("result", text(output));
            StateTypeStrategy state = accumulator(inference);
            if (state != null) {
                DataType accumulator = explicit(strategy(state), alternative);
                if (accumulator == null) {
                    return null;
                }
                signature.put("accumulator", text(accumulator));
            }
            result.add(signature);
        }
        return result;
    }

    private static void collect(Object strategy, List<Object> alternatives) throws ReflectiveOperationException {
        if (!is(strategy, "OrInputTypeStrategy")) {
            alternatives.add(strategy);
            return;
        }
        for (Object inner : (List<?>) field(strategy, "inputStrategies")) {
            collect(inner, alternatives);
        }
    }

    private static StateTypeStrategy accumulator(TypeInference inference) {
        return inference.getStateTypeStrategies().values().stream().findFirst().orElse(null);
    }

    /** What a strategy of state delegates to. */
    static TypeStrategy strategy(StateTypeStrategy state) throws ReflectiveOperationException {
        for (Field field : state.getClass().getDeclaredFields()) {
            if (TypeStrategy.class.isAssignableFrom(field.getType())) {
                field.setAccessible(true);
                return (TypeStrategy) field.get(state);
            }
        }
        return state;
    }

    /** The one signature of a function whose arguments have names; null if one of them is no scalar of a type. */
    private ObjectNode named(List<StaticArgument> arguments) {
        ObjectNode signature = json.createObjectNode();
        ArrayNode types = signature.putArray("arguments");
        ArrayNode names = signature.putArray("names");
        ArrayNode optional = signature.putArray("optional");
        for (StaticArgument argument : arguments) {
            if (argument.getDataType().isEmpty() || !argument.is(StaticArgumentTrait.SCALAR)) {
                return null;
            }
            types.add(text(argument.getDataType().get()));
            names.add(argument.getName());
            optional.add(argument.isOptional());
        }
        return signature;
    }

    private ObjectNode signature(Object strategy) throws ReflectiveOperationException {
        List<?> fixed;
        Object varying = null;
        if (is(strategy, "SequenceInputTypeStrategy")) {
            fixed = (List<?>) field(strategy, "argumentStrategies");
        } else if (is(strategy, "VaryingSequenceInputTypeStrategy")) {
            fixed = (List<?>) field(strategy, "constantArgumentStrategies");
            varying = field(strategy, "varyingArgumentStrategy");
        } else {
            return null;
        }
        ObjectNode signature = json.createObjectNode();
        ArrayNode arguments = signature.putArray("arguments");
        for (Object argument : fixed) {
            String type = argumentType(argument);
            if (type == null) {
                return null;
            }
            arguments.add(type);
        }
        if (varying != null) {
            String type = argumentType(varying);
            if (type == null) {
                return null;
            }
            signature.put("rest", type);
        }
        return signature;
    }

    private static String argumentType(Object strategy) throws ReflectiveOperationException {
        if (is(strategy, "AnyArgumentTypeStrategy")) {
            return ANY;
        }
        return is(strategy, "ExplicitArgumentTypeStrategy") ? text((DataType) field(strategy, "expectedDataType")) : null;
    }

    private static DataType explicit(TypeStrategy strategy, Object input) throws ReflectiveOperationException {
        Object chosen = strategy;
        if (is(strategy, "MappingTypeStrategy")) {
            chosen = ((Map<?, ?>) field(strategy, "mappings")).get(input);
        }
        return is(chosen, "ExplicitTypeStrategy") ? (DataType) field(chosen, "explicitDataType") : null;
    }

    /** The type that a class declares. */
    static DataType declared(TypeStrategy strategy) throws ReflectiveOperationException {
        DataType type = explicit(strategy, null);
        if (type == null) {
            throw new IllegalArgumentException("it infers the types of each call by code of its own");
        }
        return type;
    }

    private static boolean is(Object strategy, String name) {
        return strategy != null && strategy.getClass().getName().equals(STRATEGIES + name);
    }

    private static Object field(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    static String text(DataType type) {
        return type.getLogicalType().asSerializableString();
    }
}

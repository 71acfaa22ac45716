package flinkplan.functions;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;

/** The types of a call, by what the function itself says of them: for classes that override {@code getTypeInference}. */
public final class CallTypes implements CallContext {
    private final Loaded loaded;
    private final FunctionDefinition function;
    private final String name;
    private final List<DataType> arguments;
    private final JsonNode literals;

    private CallTypes(
            Loaded loaded, FunctionDefinition function, String name, List<DataType> arguments, JsonNode literals) {
        this.loaded = loaded;
        this.function = function;
        this.name = name;
        this.arguments = arguments;
        this.literals = literals;
    }

    /**
     * The types of a call.
     *
     * @param call {@code class}, {@code arguments}: types, {@code literals}: for each argument its value as text, or
     *     null if it is no literal
     */
    public static TypeInferenceUtil.Result of(Loaded loaded, FunctionDefinition function, JsonNode call) {
        List<DataType> arguments =
                IntStream.range(0, call.get("arguments").size())
                        .mapToObj(i -> LogicalTypeParser.parse(call.get("arguments").get(i).asText(), loaded.classes()))
                        .map(TypeConversions::fromLogicalToDataType)
                        .collect(Collectors.toList());
        CallContext context =
                new CallTypes(loaded, function, call.get("class").asText(), arguments, call.get("literals"));
        return TypeInferenceUtil.runTypeInference(function.getTypeInference(loaded.types()), context, null);
    }

    /** The same as JSON: {@code arguments}, {@code result} and {@code accumulator}; or {@code error}. */
    static ObjectNode infer(Loaded loaded, JsonNode call) {
        ObjectNode answer = new ObjectMapper().createObjectNode();
        try {
            TypeInferenceUtil.Result types = of(loaded, loaded.function(call.get("class").asText()), call);
            var expected = answer.putArray("arguments");
            types.getExpectedArgumentTypes().forEach(type -> expected.add(Signatures.text(type)));
            answer.put("result", Signatures.text(types.getOutputDataType()));
            types.getStateInfos().values().stream()
                    .findFirst()
                    .ifPresent(state -> answer.put("accumulator", Signatures.text(state.getDataType())));
        } catch (Throwable e) { // also what the function's own code raises
            answer.put("error", Signatures.message(e));
        }
        return answer;
    }

    @Override
    public DataTypeFactory getDataTypeFactory() {
        return loaded.types();
    }

    @Override
    public FunctionDefinition getFunctionDefinition() {
        return function;
    }

    @Override
    public boolean isArgumentLiteral(int position) {
        return literals.hasNonNull(position) || isArgumentNull(position);
    }

    @Override
    public boolean isArgumentNull(int position) {
        return arguments.get(position).getLogicalType().is(LogicalTypeRoot.NULL);
    }

    @Override
    public <T> Optional<T> getArgumentValue(int position, Class<T> type) {
        if (!literals.hasNonNull(position)) {
            return Optional.empty();
        }
        String text = literals.get(position).asText();
        LogicalType logical = arguments.get(position).getLogicalType();
        Object value;
        switch (logical.getTypeRoot()) {
            case BOOLEAN:
                value = Boolean.valueOf(text);
                break;
            case CHAR:
            case VARCHAR:
                value = text;
                break;
            default:
                value = number(new BigDecimal(text), type);
        }
        return type.isInstance(value) ? Optional.of(type.cast(value)) : Optional.empty();
    }

    private static Object number(BigDecimal value, Class<?> type) {
        if (type == Integer.class) {
            return value.intValue();
        }
        if (type == Long.class) {
            return value.longValue();
        }
        if (type == Short.class) {
            return value.shortValue();
        }
        if (type == Byte.class) {
            return value.byteValue();
        }
        if (type == Double.class) {
            return value.doubleValue();
        }
        return type == Float.class ? (Object) value.floatValue() : value;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public List<DataType> getArgumentDataTypes() {
        return arguments;
    }

    @Override
    public Optional<DataType> getOutputDataType() {
        return Optional.empty();
    }

    @Override
    public boolean isGroupedAggregation() {
        return false;
    }
}

package flinkplan.functions;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.functions.TableSemantics;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.SystemTypeInference;
import org.apache.flink.table.types.inference.TypeInference;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.ColumnList;

/** The types of a call, by what the function itself says of them: for classes that override {@code getTypeInference}. */
public final class CallTypes implements CallContext {
    private final Loaded loaded;
    private final FunctionDefinition function;
    private final String name;
    private final List<DataType> arguments;
    private final JsonNode literals;
    private final JsonNode tables;
    private final JsonNode timeColumns;

    private CallTypes(Loaded loaded, FunctionDefinition function, JsonNode call) {
        this.loaded = loaded;
        this.function = function;
        name = call.get("class").asText();
        arguments =
                IntStream.range(0, call.get("arguments").size())
                        .mapToObj(i -> LogicalTypeParser.parse(call.get("arguments").get(i).asText(), loaded.classes()))
                        .map(TypeConversions::fromLogicalToDataType)
                        .collect(Collectors.toList());
        literals = call.get("literals");
        tables = call.path("tables");
        timeColumns = call.path("on_time");
    }

    /**
     * The types of a call.
     *
     * @param call {@code class}, {@code arguments}: types, {@code literals}: for each argument its value as text, or
     *     null if it is no literal
     */
    public static TypeInferenceUtil.Result of(Loaded loaded, FunctionDefinition function, JsonNode call) {
        CallContext context = new CallTypes(loaded, function, call);
        return TypeInferenceUtil.runTypeInference(function.getTypeInference(loaded.types()), context, null);
    }

    /**
     * The types of a call of a process table function.
     *
     * @param call the same, with {@code tables}: for each argument a {@link TableArgument} or null, and {@code on_time}:
     *     the names of time columns
     */
    public static ProcessTypes ofProcess(Loaded loaded, FunctionDefinition function, JsonNode call) {
        CallTypes context = new CallTypes(loaded, function, call);
        TypeInference own = function.getTypeInference(loaded.types());
        TypeInference whole = SystemTypeInference.of(FunctionKind.PROCESS_TABLE, own);
        CallContext cast = TypeInferenceUtil.castArguments(whole, context, null);
        List<StaticArgument> declared = own.getStaticArguments().orElseThrow(IllegalStateException::new);
        List<DataType> arguments = new ArrayList<>(cast.getArgumentDataTypes());
        for (int i = 0; i < declared.size(); i++) {
            if (context.table(i) != null && declared.get(i).getDataType().isPresent()) {
                arguments.set(i, declared.get(i).getDataType().get());
            }
        }
        return new ProcessTypes(
                arguments,
                TypeInferenceUtil.inferOutputType(cast, own.getOutputTypeStrategy()),
                TypeInferenceUtil.inferStateInfos(cast, own.getStateTypeStrategies()),
                IntStream.range(0, context.arguments.size()).mapToObj(context::table).collect(Collectors.toList()),
                declared);
    }

    private TableArgument table(int position) {
        return tables.hasNonNull(position) ? new TableArgument(arguments.get(position), tables.get(position)) : null;
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
    public Optional<TableSemantics> getTableSemantics(int position) {
        return Optional.ofNullable(table(position));
    }

    @Override
    public boolean isArgumentNull(int position) {
        if (tables.isArray() && !literals.hasNonNull(position) && !tables.hasNonNull(position)) {
            return true; // an argument that is left out
        }
        return arguments.get(position).getLogicalType().is(LogicalTypeRoot.NULL);
    }

    @Override
    public <T> Optional<T> getArgumentValue(int position, Class<T> type) {
        if (type == ColumnList.class) {
            List<String> names = new ArrayList<>();
            timeColumns.forEach(name -> names.add(name.asText()));
            return names.isEmpty() ? Optional.empty() : Optional.of(type.cast(ColumnList.of(names)));
        }
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

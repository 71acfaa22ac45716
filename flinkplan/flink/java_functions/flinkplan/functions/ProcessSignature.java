package flinkplan.functions;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.extraction.ExtractionUtils;
import org.apache.flink.table.types.inference.StateTypeStrategy;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.SystemTypeInference;
import org.apache.flink.table.types.inference.TypeInference;

/** What the planner has to know of a process table function: arguments, states and the type of its result, as JSON. */
final class ProcessSignature {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ProcessSignature() {}

    static ObjectNode describe(UserDefinedFunction function, TypeInference inference) throws Exception {
        SystemTypeInference.of(FunctionKind.PROCESS_TABLE, inference); // refuses what Flink refuses
        ObjectNode described = JSON.createObjectNode();
        ArrayNode arguments = described.putArray("arguments");
        for (StaticArgument argument : inference.getStaticArguments().orElse(List.of())) {
            ObjectNode each = arguments.addObject().put("name", argument.getName());
            argument.getDataType().ifPresent(type -> each.put("type", Signatures.text(type)));
            ArrayNode traits = each.putArray("traits");
            argument.getTraits().stream().map(Enum::name).sorted().forEach(traits::add);
            each.put("optional", argument.isOptional());
        }
        described.put("result", Signatures.text(Signatures.declared(inference.getOutputTypeStrategy())));
        ArrayNode states = described.putArray("states");
        for (Map.Entry<String, StateTypeStrategy> state : inference.getStateTypeStrategies().entrySet()) {
            states.add(state(state.getKey(), state.getValue()));
        }
        described.put("system_arguments", !inference.disableSystemArguments());
        described.put("changelog", function instanceof ChangelogFunction);
        described.put("timers", !ExtractionUtils.collectMethods(function.getClass(), "onTimer").isEmpty());
        described.put("context", takesContext(function.getClass()));
        return described;
    }

    private static ObjectNode state(String name, StateTypeStrategy strategy) throws ReflectiveOperationException {
        DataType type = Signatures.declared(Signatures.strategy(strategy));
        ExtractionUtils.checkStateDataType(type);
        ObjectNode described = JSON.createObjectNode().put("name", name);
        if (ListView.class.isAssignableFrom(type.getConversionClass())) {
            described.put("kind", "list").put("value", text(element(type, 0)));
        } else if (MapView.class.isAssignableFrom(type.getConversionClass())) {
            described.put("kind", "map").put("key", text(element(type, 0))).put("value", text(element(type, 1)));
        } else {
            described.put("kind", "value").put("value", text(type));
        }
        strategy.getTimeToLive(null).ifPresent(ttl -> described.put("ttl", ttl.toMillis()));
        return described;
    }

    /** The type of what a view has: its only field is an array or a map. */
    static DataType element(DataType view, int position) {
        return view.getChildren().get(0).getChildren().get(position);
    }

    private static String text(DataType type) {
        return Signatures.text(type);
    }

    private static boolean takesContext(Class<?> type) {
        for (Method method : ExtractionUtils.collectMethods(type, "eval")) {
            Class<?>[] parameters = method.getParameterTypes();
            if (parameters.length > 0 && ProcessTableFunction.Context.class.isAssignableFrom(parameters[0])) {
                return true;
            }
        }
        return false;
    }
}

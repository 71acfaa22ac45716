package flinkplan.functions;

import java.util.LinkedHashMap;
import java.util.List;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.TypeInferenceUtil.StateInfo;

/** The types of a call of a process table function, with the classes that its methods take. */
public final class ProcessTypes {
    public final List<DataType> arguments;
    public final DataType result;
    public final LinkedHashMap<String, StateInfo> states;
    /** For each argument the table, or null. */
    public final List<TableArgument> tables;
    /** What the class declares of its arguments; the last ones of a call, {@code on_time} and {@code uid}, are not here. */
    public final List<StaticArgument> declared;

    ProcessTypes(
            List<DataType> arguments,
            DataType result,
            LinkedHashMap<String, StateInfo> states,
            List<TableArgument> tables,
            List<StaticArgument> declared) {
        this.arguments = arguments;
        this.result = result;
        this.states = states;
        this.tables = tables;
        this.declared = declared;
    }
}

package flinkplan.bridge;

import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.StaticArgumentTrait;

/** What the class of a process table function declares of a table that it takes. */
final class Traits {
    private Traits() {}

    static boolean isSet(StaticArgument argument) {
        return argument.is(StaticArgumentTrait.SET_SEMANTIC_TABLE);
    }

    static boolean passesThrough(StaticArgument argument) {
        return argument.is(StaticArgumentTrait.PASS_COLUMNS_THROUGH);
    }
}

package flinkplan.runtime.pattern;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a match may stand: before a row of a variable, or at its end.
 *
 * <p>Its edges lead on by taking a row as one of the variable, or without one.
 */
final class State {
    final int number;
    final int variable;
    final List<Edge> edges = new ArrayList<>();

    /** @param variable -1 for the end */
    State(int number, int variable) {
        this.number = number;
        this.variable = variable;
    }

    /** What must hold of a row: that it could be one of a variable, or could not. */
    record Guard(int variable, boolean holds) {}

    /** @param takes whether a row is taken */
    record Edge(boolean takes, State target, List<Guard> guards) {}

    boolean isEnd() {
        return variable < 0;
    }

    State take(State target) {
        edges.add(new Edge(true, target, new ArrayList<>(List.of(new Guard(variable, true)))));
        return this;
    }

    State proceed(State target) {
        edges.add(new Edge(false, target, new ArrayList<>()));
        return this;
    }

    /** Lets no row pass that a variable before could take. */
    void unless(int before) {
        edges.forEach(edge -> edge.guards().add(new Guard(before, false)));
    }
}

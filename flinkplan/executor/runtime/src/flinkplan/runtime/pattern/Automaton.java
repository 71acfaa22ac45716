package flinkplan.runtime.pattern;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;

/** The states of a pattern, compiled, and how matches move between them. */
final class Automaton {
    private final Variable[] variables;
    private final BasePredicate[] conditions;
    private final List<State> states = new ArrayList<>();
    private final State start;

    Automaton(Variable[] variables) {
        this.variables = variables;
        conditions = new BasePredicate[variables.length];
        State next = state(-1);
        for (int i = variables.length - 1; i >= 0; i--) {
            conditions[i] =
                    variables[i].condition() == null ? null : variables[i].condition().compile();
            next = before(next, i);
        }
        start = next;
    }

    State start() {
        return start;
    }

    State state(long number) {
        return states.get((int) number);
    }

    private State state(int variable) {
        State state = new State(states.size(), variable);
        states.add(state);
        return state;
    }

    /** The state in which a variable begins, {@code next} being the one behind it. */
    private State before(State next, int of) {
        Variable variable = variables[of];
        boolean isOptional = variable.least() == 0;
        int least = Math.max(1, variable.least());
        State last = next;
        if (variable.most() == Variable.UNLIMITED) {
            last = state(of).proceed(next);
            if (variable.greedy()) {
                next.unless(of);
            }
            last.take(last);
        } else {
            if (variable.greedy() && variable.most() > least) {
                next.unless(of);
            }
            for (int i = least; i < variable.most(); i++) {
                last = state(of).take(last).proceed(next);
            }
        }
        for (int i = 1; i < least; i++) {
            last = state(of).take(last);
        }
        State first = state(of).take(last);
        return isOptional ? first.proceed(next) : first;
    }

    /** What comes of a match by a row; a match that has not begun stays as well. */
    List<PartialMatch> next(PartialMatch match, MatchedRow row) {
        Moment moment = new Moment(match.last(), row);
        List<PartialMatch> successors = new ArrayList<>();
        Deque<State> pending = new ArrayDeque<>(List.of(match.state()));
        List<Integer> taken = new ArrayList<>();
        List<State> targets = new ArrayList<>();
        while (!pending.isEmpty()) {
            State state = pending.pop();
            for (State.Edge edge : state.edges) {
                if (!moment.lets(edge)) {
                    continue;
                }
                if (edge.takes()) {
                    taken.add(state.variable);
                    targets.add(edge.target());
                } else {
                    pending.push(edge.target());
                }
            }
        }
        for (int i = 0; i < targets.size(); i++) {
            Step step = moment.step(taken.get(i));
            successors.add(new PartialMatch(targets.get(i), step));
            State end = endBehind(targets.get(i), moment);
            if (end != null) {
                successors.add(new PartialMatch(end, step));
            }
        }
        if (match.last() == null) {
            successors.add(match);
        }
        return successors;
    }

    /** The end, where no further row need be taken to come there; else null. */
    private static State endBehind(State state, Moment moment) {
        Deque<State> pending = new ArrayDeque<>(List.of(state));
        while (!pending.isEmpty()) {
            for (State.Edge edge : pending.pop().edges) {
                if (!edge.takes() && moment.lets(edge)) {
                    if (edge.target().isEnd()) {
                        return edge.target();
                    }
                    pending.push(edge.target());
                }
            }
        }
        return null;
    }

    /** A match when a row comes: which variables the row could be one of, each found out once. */
    private final class Moment {
        private final Step last;
        private final MatchedRow row;
        private final Step[] steps = new Step[variables.length];
        private final Boolean[] known = new Boolean[variables.length];

        Moment(Step last, MatchedRow row) {
            this.last = last;
            this.row = row;
        }

        /** The match with the row as one of a variable. */
        Step step(int variable) {
            if (steps[variable] == null) {
                steps[variable] = new Step(variable, row, last);
            }
            return steps[variable];
        }

        boolean lets(State.Edge edge) {
            for (State.Guard guard : edge.guards()) {
                if (isOne(guard.variable()) != guard.holds()) {
                    return false;
                }
            }
            return true;
        }

        private boolean isOne(int variable) {
            if (known[variable] == null) {
                known[variable] = conditions[variable] == null
                        || conditions[variable].eval(variables[variable].leaves().values(step(variable), 0));
            }
            return known[variable];
        }
    }
}

package flinkplan.runtime.state;

import java.util.function.BooleanSupplier;

/** The variable of a state that is not written at present: what another TTL has left there. */
final class FormerVariable<S> {
    private final S state;
    private final BooleanSupplier isEmpty;
    private Boolean any;

    /** @param isEmpty whether the variable holds nothing, of any key */
    FormerVariable(S state, BooleanSupplier isEmpty) {
        this.state = state;
        this.isEmpty = isEmpty;
    }

    /** Whether it held anything when it was asked for first: it never gains. */
    boolean any() {
        if (any == null) {
            any = !isEmpty.getAsBoolean();
        }
        return any;
    }

    S state() {
        return state;
    }
}

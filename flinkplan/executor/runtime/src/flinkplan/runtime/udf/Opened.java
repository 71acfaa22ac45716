package flinkplan.runtime.udf;

import java.io.Serializable;

/** A call that is opened in a task when it is first needed there. */
public final class Opened implements Serializable {
    private final Description description;
    private final boolean emitsRows;
    private transient ScalarCall call;

    Opened(Description description, boolean emitsRows) {
        this.description = description;
        this.emitsRows = emitsRows;
    }

    /** The call; generated code asks for it with each row. */
    public ScalarCall get() {
        if (call == null) {
            call = emitsRows ? description.openTable() : description.openScalar();
        }
        return call;
    }
}

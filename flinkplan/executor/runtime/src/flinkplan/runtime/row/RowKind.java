package flinkplan.runtime.row;

/** The kinds of changelog rows, as the hidden column holds them. */
public final class RowKind {
    public static final byte INSERT = 0;
    public static final byte UPDATE_BEFORE = 1;
    public static final byte UPDATE_AFTER = 2;
    public static final byte DELETE = 3;

    private RowKind() {}

    /** Whether a row of this kind takes an earlier one back. */
    public static boolean retracts(byte kind) {
        return kind == UPDATE_BEFORE || kind == DELETE;
    }
}

package flinkplan.runtime.row;

/** The names of the columns that stand behind those of a plan: the executor adds them to rows for its operators. */
public final class Hidden {
    /** The row kind; insert-only rows have none. */
    public static final String KIND = "__kind";

    /** The number by which the rows of a key are in order. */
    public static final String SEQUENCE = "__seq";

    /** The {@link Place} of a row among those of one sequence number. */
    public static final String ORDER = "__order";

    /** Above so many bits a sequence number holds the task that gave it. */
    public static final int PARTITION_SHIFT = 40;

    /** What orders rows of one sequence number. */
    public static final String TIE = "__tie";

    /** The watermark that a row came behind. */
    public static final String WATERMARK = "__wm";

    /** The time that a row is kept or fired by. */
    public static final String TIME = "__time";

    /** The watermark that an operator passed on. */
    public static final String PASSED = "__passed";

    /** The watermark that a source announces, and which source: then the row is none. */
    public static final String TICK = "__tick";

    /** Which partition a watermark is sent to: 0 for rows, which go by their keys. */
    public static final String TARGET = "__target";

    /** Whether a row is the right input's. */
    public static final String RIGHT = "__right";

    /** Which of several inputs a row is from. */
    public static final String INPUT = "__input";

    /** A session's gap that a row brings along. */
    public static final String GAP = "__gap";

    /** The row as it was, where it is one column. */
    public static final String ROW = "__values";

    /** The start of the window that a row is of. */
    public static final String START = "__start";

    /** Its end. */
    public static final String END = "__end";

    /** How often a window has fired. */
    public static final String FIRING = "__firing";

    /** How often the windows of a key have. */
    public static final String KEY_FIRING = "__keyFiring";

    /** A row that came too late for a window operator, as it was. */
    public static final String LATE = "__late";

    /** When what a row is emitted for came about. */
    public static final String CAUSE_TIME = "__causeTime";

    /** Which row that was; -1: a timer. */
    public static final String CAUSE_ROW = "__causeRow";

    private Hidden() {}
}

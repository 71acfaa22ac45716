package flinkplan.runtime;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The names of the columns that stand behind those of a plan: the executor adds them to rows for its operators. */
public final class Hidden {
    /** The row kind; insert-only rows have none. */
    public static final String KIND = "__kind";

    /** The number by which the rows of a key are in order. */
    public static final String SEQUENCE = "__seq";

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

    private Hidden() {}

    /**
     * The schema of what an operator emits.
     *
     * @param columns the columns of the plan
     * @param changelog whether the rows have kinds
     */
    public static StructType behind(StructType columns, boolean changelog) {
        StructType visible = changelog ? columns.add(KIND, DataTypes.ByteType, false) : columns;
        return visible.add(SEQUENCE, DataTypes.LongType, false);
    }
}

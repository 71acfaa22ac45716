package flinkplan.runtime.row;

/**
 * The place of a row among all that one row of a source has brought about, as the column {@link Hidden#ORDER} holds it.
 *
 * <p>The rows that an operator emits for a row divide that row's place among them: so rows of one sequence number stand
 * in the order in which a single task would emit them, whichever operators they have passed. A place is a number of up
 * to 57 bits, the first one highest; how many of them are taken stands in the lowest six bits.
 */
public final class Place {
    /** The place of a row that comes from a source. */
    public static final long WHOLE = 0;

    private static final int COUNT_BITS = 6;
    private static final int BITS = Long.SIZE - 1 - COUNT_BITS;
    private static final int NTH_BITS = Integer.SIZE - 1;

    private Place() {}

    /**
     * The place of one of {@code count} rows that a row has brought about.
     *
     * <p>Where all bits are taken, it is as if the row came from a source: only rows of one key keep their order then.
     *
     * @param whole the place of the row
     * @param index from 0
     */
    public static long part(long whole, int index, int count) {
        int width = Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
        long before = whole & (1 << COUNT_BITS) - 1;
        long taken = before + width;
        if (taken > BITS) {
            return part(WHOLE, index, count);
        }
        return whole - before + ((long) index << COUNT_BITS + BITS - taken) + taken;
    }

    /** The place of a row behind {@code index} others, where it is not known how many there will be. */
    public static long nth(int index) {
        return ((long) index << COUNT_BITS + BITS - NTH_BITS) + NTH_BITS;
    }
}

package flinkplan.runtime.window;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;

/** What a trigger keeps of a window: numbers in slots, and a row. */
final class TriggerState {
    static final int SLOTS = 4;
    private static final long NONE = Long.MIN_VALUE;

    private final long[] numbers;
    private InternalRow row;
    private boolean changed;

    TriggerState() {
        this(new long[0], null);
    }

    TriggerState(long[] numbers, InternalRow row) {
        this.numbers = new long[SLOTS];
        Arrays.fill(this.numbers, NONE);
        System.arraycopy(numbers, 0, this.numbers, 0, numbers.length);
        this.row = row;
    }

    boolean has(int slot) {
        return numbers[slot] != NONE;
    }

    long get(int slot) {
        return numbers[slot];
    }

    void set(int slot, long number) {
        changed |= numbers[slot] != number;
        numbers[slot] = number;
    }

    void clear(int slot) {
        set(slot, NONE);
    }

    InternalRow row() {
        return row;
    }

    void setRow(InternalRow row) {
        changed |= this.row != row;
        this.row = row;
    }

    long[] numbers() {
        return numbers;
    }

    boolean isEmpty() {
        return row == null && Arrays.stream(numbers).allMatch(number -> number == NONE);
    }

    /** Whether it has been written since it was asked last. */
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }
}

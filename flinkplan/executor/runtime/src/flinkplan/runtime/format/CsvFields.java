package flinkplan.runtime.format;

import java.io.Serializable;
import java.util.Arrays;

/**
 * The places of the fields of an everyday record: ASCII alone, and quotes around whole values only.
 *
 * <p>Most records are such ones. Their fields are read where they stand; {@link CsvSyntax#split} takes the others
 * apart.
 */
final class CsvFields implements Serializable {
    private final int delimiter;
    private final int quote;
    private int[] starts = new int[16];
    private int[] ends = new int[16];
    private int count;

    /** Both are characters of ASCII; {@code quote} may be one that no byte is. */
    CsvFields(int delimiter, int quote) {
        this.delimiter = delimiter;
        this.quote = quote;
    }

    int count() {
        return count;
    }

    int start(int field) {
        return starts[field];
    }

    int end(int field) {
        return ends[field];
    }

    boolean isEmpty(int field) {
        return starts[field] == ends[field];
    }

    /** Finds the fields of the record at {@code [from, to)}; false where it is no everyday one. */
    boolean find(byte[] buffer, int from, int to) {
        count = 0;
        for (int at = from; ; at++) {
            boolean quoted = at < to && buffer[at] == quote;
            int start = quoted ? at + 1 : at;
            int end = past(quoted ? quote : delimiter, buffer, start, to);
            if (end < 0 || quoted && end == to) {
                return false;
            }
            add(start, end);
            at = quoted ? end + 1 : end;
            if (at >= to) {
                return true;
            }
            if (buffer[at] != delimiter) {
                return false;
            }
        }
    }

    /** Where {@code sign} stands first, or else the end; negative where something else than ASCII comes before it. */
    private static int past(int sign, byte[] buffer, int from, int to) {
        for (int i = from; i < to; i++) {
            if (buffer[i] == sign) {
                return i;
            }
            if (buffer[i] < 0) {
                return -1;
            }
        }
        return to;
    }

    private void add(int start, int end) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
        }
        starts[count] = start;
        ends[count++] = end;
    }
}

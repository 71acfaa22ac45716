package flinkplan.runtime.format;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The records of a CSV file: line ends within quotes do not end them, and a carriage return does by itself.
 *
 * <p>As in Jackson's parser a quote opens only where a value begins, and a line that is a comment ends where it ends.
 */
final class CsvRecords implements Records {
    private static final byte[] PUNCTUATION = {'\n', '\r', ' ', '\t', '#'};

    private final byte[] delimiter;
    private final byte[] quote;
    private final byte[] escape;
    private final boolean comments;
    private final boolean trims;
    private final boolean[] means = new boolean[256];

    private boolean isBlank;
    private boolean isComment;
    private boolean atValue;
    private boolean inQuotes;
    private boolean behindQuotes;
    private boolean isEscaped;

    /** {@code quote} and {@code escape} are negative where there are none. */
    CsvRecords(char delimiter, int quote, int escape, boolean comments, boolean trims) {
        this.delimiter = bytes(delimiter);
        this.quote = bytes(quote);
        this.escape = bytes(escape);
        this.comments = comments;
        this.trims = trims;
        for (byte[] sign : List.of(this.delimiter, this.quote, this.escape, PUNCTUATION)) {
            for (byte b : sign) {
                means[b & 0xFF] = true;
            }
        }
    }

    private static byte[] bytes(int sign) {
        return sign < 0 ? new byte[0] : String.valueOf((char) sign).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void begin() {
        isBlank = true;
        isComment = false;
        atValue = true;
        inQuotes = false;
        behindQuotes = false;
        isEscaped = false;
    }

    @Override
    public int end(byte[] buffer, int from, int at, int to) {
        for (int i = at; i < to; i++) {
            byte b = buffer[i];
            if (!means[b & 0xFF]) {
                takeOrdinary();
                continue;
            }
            boolean ends = (b == '\n' || b == '\r') && !inQuotes && !isEscaped;
            if (ends) {
                return i;
            }
            if (!isComment) {
                take(buffer, from, i);
            }
        }
        return -1;
    }

    /** A byte that is no punctuation, as nearly all are. */
    private void takeOrdinary() {
        isBlank = false;
        if (isEscaped) {
            isEscaped = false;
        } else if (!inQuotes) {
            atValue = false;
            behindQuotes = false;
        }
    }

    private void take(byte[] buffer, int from, int at) {
        byte b = buffer[at];
        if (isEscaped) {
            isEscaped = false;
        } else if (is(escape, buffer, from, at)) {
            isEscaped = true;
            atValue = false;
        } else if (is(quote, buffer, from, at)) {
            boolean opens = atValue || behindQuotes;
            behindQuotes = inQuotes;
            inQuotes = !inQuotes && opens;
            atValue = false;
        } else if (inQuotes) {
            return;
        } else if (is(delimiter, buffer, from, at)) {
            atValue = true;
            behindQuotes = false;
        } else {
            isComment = comments && isBlank && b == '#';
            atValue &= trims && b == ' ';
            behindQuotes = false;
        }
        isBlank &= b == ' ' || b == '\t';
    }

    /** Whether the last byte of a sign stands at {@code at}. */
    private static boolean is(byte[] sign, byte[] buffer, int from, int at) {
        int first = at - sign.length + 1;
        if (sign.length == 0 || buffer[at] != sign[sign.length - 1] || first < from) {
            return false;
        }
        for (int i = 0; i < sign.length - 1; i++) {
            if (buffer[first + i] != sign[i]) {
                return false;
            }
        }
        return true;
    }
}

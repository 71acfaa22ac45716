package flinkplan.runtime.format;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.YearMonth;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Values whose texts stand in ASCII at {@code [from, to)} of a buffer, read without making a text of them.
 *
 * <p>Only texts of the everyday shape are: no blanks, no plus sign, as many digits as surely fit. Of others each method
 * returns null.
 */
final class Ascii {
    private static final int INT_DIGITS = 9;
    private static final int LONG_DIGITS = 18;
    private static final int DATE_LENGTH = 10;
    private static final int SHORTEST_MONTH = 28;

    private Ascii() {}

    static String text(byte[] buffer, int from, int to) {
        return new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
    }

    static UTF8String bytes(byte[] buffer, int from, int to) {
        return UTF8String.fromBytes(buffer, from, to - from);
    }

    static Integer integer(byte[] buffer, int from, int to) {
        Long found = digits(buffer, from, to, INT_DIGITS);
        return found == null ? null : found.intValue();
    }

    static Long bigInt(byte[] buffer, int from, int to) {
        return digits(buffer, from, to, LONG_DIGITS);
    }

    private static Long digits(byte[] buffer, int from, int to, int most) {
        int first = from < to && buffer[from] == '-' ? from + 1 : from;
        if (first == to || to - first > most) {
            return null;
        }
        long value = 0;
        for (int i = first; i < to; i++) {
            if (!isDigit(buffer[i])) {
                return null;
            }
            value = value * 10 + buffer[i] - '0';
        }
        return first > from ? -value : value;
    }

    /** A number that needs no rounding to {@code scale}. */
    static Decimal decimal(byte[] buffer, int from, int to, int precision, int scale) {
        int first = from < to && buffer[from] == '-' ? from + 1 : from;
        int point = first;
        while (point < to && isDigit(buffer[point])) {
            point++;
        }
        boolean hasFraction = point < to && buffer[point] == '.';
        int fraction = hasFraction ? to - point - 1 : 0;
        boolean isShort = point - first + scale <= Math.min(precision, LONG_DIGITS) && fraction <= scale;
        if (point == first || !isShort || hasFraction == (fraction == 0) || !hasFraction && point < to) {
            return null;
        }
        long value = 0;
        for (int i = first; i < to; i++) {
            if (i == point) {
                continue;
            }
            if (!isDigit(buffer[i])) {
                return null;
            }
            value = value * 10 + buffer[i] - '0';
        }
        for (int i = fraction; i < scale; i++) {
            value *= 10;
        }
        return Decimal.createUnsafe(first > from ? -value : value, precision, scale);
    }

    /** Days since 1970 of {@code 2024-01-01}. */
    static Integer date(byte[] buffer, int from, int to) {
        if (to - from != DATE_LENGTH || buffer[from + 4] != '-' || buffer[from + 7] != '-') {
            return null;
        }
        Integer year = integer(buffer, from, from + 4);
        Integer month = integer(buffer, from + 5, from + 7);
        Integer day = integer(buffer, from + 8, to);
        if (year == null || month == null || day == null || year < 0 || month < 1 || month > 12 || day < 1) {
            return null;
        }
        boolean exists = day <= SHORTEST_MONTH || day <= YearMonth.of(year, month).lengthOfMonth();
        return exists ? (int) LocalDate.of(year, month, day).toEpochDay() : null;
    }

    private static boolean isDigit(byte sign) {
        return sign >= '0' && sign <= '9';
    }
}

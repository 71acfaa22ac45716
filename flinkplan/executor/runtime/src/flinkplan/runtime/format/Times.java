package flinkplan.runtime.format;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Dates and times between their texts and Spark's values: days, milliseconds of the day, microseconds.
 *
 * <p>The two styles are those of the option {@code timestamp-format.standard}: SQL ({@code 2024-01-01 00:00:00.123})
 * and ISO-8601 ({@code 2024-01-01T00:00:00.123}); a TIMESTAMP_LTZ ends in {@code Z}.
 */
public final class Times {
    private static final DateTimeFormatter TIME =
            new DateTimeFormatterBuilder()
                    .appendPattern("HH:mm:ss")
                    .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
                    .toFormatter();
    private static final DateTimeFormatter SQL = joined(' ', TIME);
    private static final DateTimeFormatter ISO = joined('T', DateTimeFormatter.ISO_LOCAL_TIME);
    private static final DateTimeFormatter SQL_ZULU = zulu(SQL);
    private static final DateTimeFormatter ISO_ZULU = zulu(ISO);
    private static final long MICROS = 1_000_000L;

    private Times() {}

    private static DateTimeFormatter joined(char separator, DateTimeFormatter time) {
        return new DateTimeFormatterBuilder()
                .append(DateTimeFormatter.ISO_LOCAL_DATE)
                .appendLiteral(separator)
                .append(time)
                .toFormatter();
    }

    private static DateTimeFormatter zulu(DateTimeFormatter formatter) {
        return new DateTimeFormatterBuilder().append(formatter).appendPattern("'Z'").toFormatter();
    }

    private static DateTimeFormatter formatter(boolean iso, boolean zulu) {
        return iso ? (zulu ? ISO_ZULU : ISO) : (zulu ? SQL_ZULU : SQL);
    }

    /** Days since 1970 of {@code 2024-01-01}. */
    public static int parseDate(String text) {
        return (int) LocalDate.parse(text, DateTimeFormatter.ISO_LOCAL_DATE).toEpochDay();
    }

    /** Milliseconds of the day of {@code 12:34:56.789}. */
    public static int parseTime(String text) {
        return (int) (TIME.parse(text).query(TemporalQueries.localTime()).toNanoOfDay() / 1_000_000);
    }

    /** Milliseconds of the day of {@code 12:34} or {@code 12:34:56.789}. */
    public static int parseIsoTime(String text) {
        return (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
    }

    /** The value of a timestamp's text: microseconds, or the pair that holds nanoseconds. */
    public static Object parseTimestamp(String text, boolean iso, boolean zulu, boolean nanos) {
        int digits = text.length() - (zulu ? 1 : 0);
        if (!nanos && digits >= 19 && digits <= 26 && isPlain(text, digits, iso ? 'T' : ' ', zulu)) {
            return plainMicros(text, digits);
        }
        TemporalAccessor parsed = formatter(iso, zulu).parse(text);
        LocalDateTime time =
                LocalDateTime.of(parsed.query(TemporalQueries.localDate()), parsed.query(TemporalQueries.localTime()));
        return value(time, nanos);
    }

    /** A wall clock as microseconds since 1970, or as the pair that holds nanoseconds. */
    public static Object value(LocalDateTime time, boolean nanos) {
        long micros = time.toEpochSecond(ZoneOffset.UTC) * MICROS + time.getNano() / 1000;
        return nanos ? new GenericInternalRow(new Object[] {micros, (short) (time.getNano() % 1000)}) : (Object) micros;
    }

    /** Whether the text has the everyday shape that {@link #plainMicros} reads without a formatter. */
    private static boolean isPlain(String text, int digits, char separator, boolean zulu) {
        for (int i = 0; i < digits; i++) {
            char c = text.charAt(i);
            char fixed = i == 4 || i == 7 ? '-' : i == 10 ? separator : i == 13 || i == 16 ? ':' : i == 19 ? '.' : 0;
            if (fixed == 0 ? c < '0' || c > '9' : c != fixed) {
                return false;
            }
        }
        return digits != 20 && (!zulu || text.charAt(digits) == 'Z');
    }

    private static long plainMicros(String text, int digits) {
        int year = number(text, 0, 4), month = number(text, 5, 7), day = number(text, 8, 10);
        LocalTime time = LocalTime.of(number(text, 11, 13), number(text, 14, 16), number(text, 17, 19));
        long fraction = 0;
        if (digits > 20) {
            fraction = number(text, 20, digits);
            for (int i = digits; i < 26; i++) {
                fraction *= 10;
            }
        }
        return (LocalDate.of(year, month, day).toEpochDay() * 86_400 + time.toSecondOfDay()) * MICROS + fraction;
    }

    private static int number(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            value = value * 10 + text.charAt(i) - '0';
        }
        return value;
    }

    public static String formatDate(int days) {
        return DateTimeFormatter.ISO_LOCAL_DATE.format(LocalDate.ofEpochDay(days));
    }

    public static String formatTime(int millis) {
        return TIME.format(LocalTime.ofNanoOfDay(millis * 1_000_000L));
    }

    /** The text of a timestamp; fractions of a second lose their trailing zeros. */
    public static String formatTimestamp(LocalDateTime time, boolean iso, boolean zulu) {
        return formatter(iso, zulu).format(time);
    }

    /** The wall clock in UTC of a column: microseconds, or the pair that holds nanoseconds. */
    public static LocalDateTime wallClock(long micros, int nanos) {
        long seconds = Math.floorDiv(micros, MICROS);
        return LocalDateTime.ofEpochSecond(
                seconds, (int) (micros - seconds * MICROS) * 1000 + nanos, ZoneOffset.UTC);
    }

    /** As {@link #wallClock(long, int)}, of the pair that holds nanoseconds. */
    public static LocalDateTime wallClock(InternalRow pair) {
        return wallClock(pair.getLong(0), pair.getShort(1));
    }

    /** The instant of microseconds since 1970. */
    public static Instant instant(long micros) {
        return wallClock(micros, 0).toInstant(ZoneOffset.UTC);
    }
}

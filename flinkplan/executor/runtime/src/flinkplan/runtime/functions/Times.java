package flinkplan.runtime.functions;

import java.text.ParseException;
import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Parsing and formatting of dates and times.
 *
 * <p>Two pattern languages are in use, as in Flink: {@link DateTimeFormatter} where a TIMESTAMP is
 * formatted or parsed, {@link SimpleDateFormat} where texts and epoch seconds are. A timestamp is its
 * microseconds since 1970, a date its days, a time of day its milliseconds.
 */
public final class Times {
    private static final UTF8String DEFAULT_PATTERN = UTF8String.fromString("yyyy-MM-dd HH:mm:ss");
    private static final int LAST_YEAR = 9999;
    private static final long FIRST_SECOND = -62_167_219_200L;
    private static final long LAST_SECOND = 253_402_300_799L;
    private static final int NANO_DIGITS = 9;
    private static final int[] POWERS_OF_TEN = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};
    private static final Pattern DATE =
            Pattern.compile("\\s*(\\d{1,9})\\s*(?:-\\s*(\\d{1,9})\\s*(?:-\\s*(\\d{1,9})\\s*)?)?");
    private static final Pattern TIME =
            Pattern.compile("\\s*0*(\\d{1,2})\\s*(?::\\s*(\\d{1,2})\\s*(?::\\s*(\\d{1,2})\\s*(?:\\.(\\d*)\\s*)?)?)?");
    private static final Pattern FALLBACK =
            Pattern.compile("(\\d{4})-(\\d{1,2})-(\\d{1,2})(?: +(\\d{1,2}):(\\d{1,2}):(\\d{1,2})(?:\\.(\\d{1,9}))?)?");
    private static final DateTimeFormatter TIMESTAMP =
            new DateTimeFormatterBuilder()
                    .appendPattern("yyyy-[MM][M]-[dd][d]")
                    .optionalStart()
                    .appendPattern(" [HH][H]:[mm][m]:[ss][s]")
                    .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
                    .optionalEnd()
                    .toFormatter(Locale.ROOT);

    private static final ThreadLocal<Map<String, DateTimeFormatter>> FORMATTERS = ThreadLocal.withInitial(Recent::new);
    private static final ThreadLocal<Map<String, SimpleDateFormat>> SIMPLE = ThreadLocal.withInitial(Recent::new);

    private Times() {}

    // ------------------------------------------------------------------ casts from text

    /** The date at the start of a text such as {@code 2024-2-9 12:00}; null where there is none. */
    public static Integer parseDate(UTF8String text) {
        String s = text.toString();
        int space = s.indexOf(' ');
        Matcher m = DATE.matcher(space > 0 ? s.substring(0, space) : s);
        if (!m.matches()) {
            return null;
        }
        return day(Integer.parseInt(m.group(1)), numberOr(m.group(2), 1), numberOr(m.group(3), 1));
    }

    /** The time of day in milliseconds; null where the text is none. */
    public static Integer parseTime(UTF8String text) {
        Matcher m = TIME.matcher(text.toString());
        if (!m.matches()) {
            return null;
        }
        int hour = Integer.parseInt(m.group(1));
        int minute = numberOr(m.group(2), 0);
        int second = numberOr(m.group(3), 0);
        if (hour > 23 || minute > 59 || second > 59) {
            return null;
        }
        return ((hour * 60 + minute) * 60 + second) * 1000 + nanos(m.group(4)) / 1_000_000;
    }

    /** The timestamp of a text such as {@code 2024-2-9 1:02:03.5}; null where it is none. */
    public static Long parseTimestamp(UTF8String text) {
        LocalDateTime parsed = parse(TIMESTAMP, text.toString());
        return parsed == null ? null : micros(parsed);
    }

    /** The nanoseconds (0 to 999) below the microsecond of {@link #parseTimestamp}. */
    public static Short parseNanos(UTF8String text) {
        LocalDateTime parsed = parse(TIMESTAMP, text.toString());
        return parsed == null ? null : (short) (parsed.getNano() % 1000);
    }

    // ------------------------------------------------------------------ functions

    /** Formats by a DateTimeFormatter pattern. */
    public static UTF8String format(long micros, int nanos, UTF8String pattern) {
        LocalDateTime time = dateTime(micros).plusNanos(nanos);
        return UTF8String.fromString(formatter(pattern).format(time));
    }

    /** Formats a text of the form yyyy-MM-dd HH:mm:ss by a SimpleDateFormat pattern; null for another form. */
    public static UTF8String reformat(UTF8String text, UTF8String pattern) {
        return convert(text, DEFAULT_PATTERN, "UTC", pattern, "UTC");
    }

    /** Moves a text of the form yyyy-MM-dd HH:mm:ss from one time zone to another. */
    public static UTF8String convertZone(UTF8String text, UTF8String from, UTF8String to) {
        return convert(text, DEFAULT_PATTERN, from.toString(), DEFAULT_PATTERN, to.toString());
    }

    /** Formats epoch seconds by a SimpleDateFormat pattern. */
    public static UTF8String fromEpochSecond(long seconds, UTF8String pattern, UTF8String zone) {
        return UTF8String.fromString(simple(pattern, zone.toString()).format(new Date(seconds * 1000)));
    }

    /** The epoch second of a text; Long.MIN_VALUE where it does not follow the pattern. */
    public static long toEpochSecond(UTF8String text, UTF8String pattern, UTF8String zone) {
        Date parsed = simple(pattern, zone.toString()).parse(text.toString(), new ParsePosition(0));
        return parsed == null ? Long.MIN_VALUE : Math.floorDiv(parsed.getTime(), 1000L);
    }

    /** The date of a text by a SimpleDateFormat pattern; null where it does not follow it. */
    public static Integer parseDateBy(UTF8String text, UTF8String pattern) {
        Date parsed = simple(pattern, "UTC").parse(text.toString(), new ParsePosition(0));
        return parsed == null ? null : Math.toIntExact(Math.floorDiv(parsed.getTime(), 86_400_000L));
    }

    /**
     * The timestamp of a text by a DateTimeFormatter pattern, to the millisecond. A text that does not follow it may
     * still be of the form yyyy-M-d[ H:m:s[.f]], where fields that are too large carry over, and all digits count; else
     * the result is null, as it is for what is no pattern.
     */
    public static Long parseTimestampBy(UTF8String text, UTF8String pattern) {
        return microsOrNull(parseBy(text.toString(), pattern, 3));
    }

    /** As {@link #parseTimestampBy}, with as many digits of the second as the pattern ends in, and at least three. */
    public static Long parseInstantBy(UTF8String text, UTF8String pattern) {
        return microsOrNull(parseBy(text.toString(), pattern, digits(pattern.toString())));
    }

    /** The nanoseconds (0 to 999) below the microsecond of {@link #parseInstantBy}. */
    public static Short parseInstantNanosBy(UTF8String text, UTF8String pattern) {
        LocalDateTime parsed = parseBy(text.toString(), pattern, digits(pattern.toString()));
        return parsed == null ? null : (short) (parsed.getNano() % 1000);
    }

    private static LocalDateTime parseBy(String text, UTF8String pattern, int digits) {
        DateTimeFormatter formatter;
        try {
            formatter = formatter(pattern);
        } catch (IllegalArgumentException e) {
            return null;
        }
        LocalDateTime parsed = parse(formatter, text);
        if (parsed == null) {
            return fallback(text.trim());
        }
        int unit = POWERS_OF_TEN[NANO_DIGITS - digits];
        return parsed.withNano(parsed.getNano() - parsed.getNano() % unit);
    }

    private static int digits(String pattern) {
        int count = 0;
        while (count < pattern.length() && pattern.charAt(pattern.length() - 1 - count) == 'S') {
            count++;
        }
        return Math.max(3, Math.min(count, NANO_DIGITS));
    }

    // ------------------------------------------------------------------ instants of numbers

    /**
     * The instant of a number that counts so many digits of the second; null before the year 0 and after 9999.
     * Fails for a number of digits that no power of ten is held for.
     */
    public static Long ofEpoch(long count, int digits) {
        Instant instant = epoch(count, digits);
        return instant == null ? null : micros(instant);
    }

    /** The nanoseconds (0 to 999) below the microsecond of {@link #ofEpoch}. */
    public static Short ofEpochNanos(long count, int digits) {
        Instant instant = epoch(count, digits);
        return instant == null ? null : (short) (instant.getNano() % 1000);
    }

    /** As {@link #ofEpoch}, of a number with a fraction; as nanoseconds it is held to the range of a long. */
    public static Long ofFractionalEpoch(double count, int digits) {
        Instant instant = epoch(count, digits);
        return instant == null ? null : micros(instant);
    }

    public static Short ofFractionalEpochNanos(double count, int digits) {
        Instant instant = epoch(count, digits);
        return instant == null ? null : (short) (instant.getNano() % 1000);
    }

    private static Instant epoch(long count, int digits) {
        long unit = (long) Math.pow(10, digits);
        long second = Math.floorDiv(count, unit);
        if (second < FIRST_SECOND || second > LAST_SECOND) {
            return null;
        }
        return Instant.ofEpochSecond(second, Math.floorMod(count, unit) * (long) Math.pow(10, NANO_DIGITS - digits));
    }

    private static Instant epoch(double count, int digits) {
        double second = count / Math.pow(10, digits);
        if (second < FIRST_SECOND || second > LAST_SECOND) {
            return null;
        }
        return epoch((long) (count * Math.pow(10, NANO_DIGITS - digits)), NANO_DIGITS);
    }

    /** The instant at which the clocks of a time zone show this; null for what is no time zone. */
    public static Long ofZone(long micros, UTF8String zone) {
        try {
            return micros(dateTime(micros).atZone(ZoneId.of(zone.toString())).toInstant());
        } catch (DateTimeException e) {
            return null;
        }
    }

    // ------------------------------------------------------------------ casts that must succeed

    /** The timestamp of a text in the default form; fails where it has not that form. */
    public static long requireTimestamp(UTF8String text) {
        return micros(dateTime(TIMESTAMP.parse(text.toString())));
    }

    /**
     * How many whole months lie from {@code from} to {@code to} (epoch milliseconds). The last day of a month
     * stands for later days of the month counted from. A time of day before that of {@code from} takes one
     * month off where the days fit exactly, also where the count is not positive, as in Flink.
     */
    public static int monthsBetween(long to, long from) {
        LocalDateTime start = dateTime(Math.multiplyExact(from, 1000L));
        LocalDateTime end = dateTime(Math.multiplyExact(to, 1000L));
        int months = monthsBetween(end.toLocalDate(), start.toLocalDate());
        boolean fits = start.toLocalDate().plusMonths(months).equals(end.toLocalDate());
        return fits && end.toLocalTime().isBefore(start.toLocalTime()) ? months - 1 : months;
    }

    private static int monthsBetween(LocalDate to, LocalDate from) {
        if (to.isBefore(from)) {
            return -monthsBetween(from, to);
        }
        int months = (int) ((to.toEpochDay() - from.toEpochDay()) / 31);
        while (!from.plusMonths(months + 1L).isAfter(to)) {
            months++;
        }
        return months;
    }

    // ------------------------------------------------------------------ helpers

    private static UTF8String convert(UTF8String text, UTF8String from, String fromZone, UTF8String to, String toZone) {
        try {
            Date parsed = simple(from, fromZone).parse(text.toString());
            return UTF8String.fromString(simple(to, toZone).format(parsed));
        } catch (ParseException e) {
            return null;
        }
    }

    private static LocalDateTime parse(DateTimeFormatter formatter, String text) {
        try {
            LocalDateTime time = dateTime(formatter.parse(text));
            return time.getYear() > LAST_YEAR ? null : time;
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** What a pattern leaves open is taken from 1970-01-01 00:00:00. */
    private static LocalDateTime dateTime(TemporalAccessor parsed) {
        return LocalDateTime.of(
                field(parsed, ChronoField.YEAR, 1970),
                field(parsed, ChronoField.MONTH_OF_YEAR, 1),
                field(parsed, ChronoField.DAY_OF_MONTH, 1),
                field(parsed, ChronoField.HOUR_OF_DAY, 0),
                field(parsed, ChronoField.MINUTE_OF_HOUR, 0),
                field(parsed, ChronoField.SECOND_OF_MINUTE, 0),
                field(parsed, ChronoField.NANO_OF_SECOND, 0));
    }

    private static int field(TemporalAccessor parsed, ChronoField field, int otherwise) {
        return parsed.isSupported(field) ? parsed.get(field) : otherwise;
    }

    private static LocalDateTime fallback(String text) {
        Matcher m = FALLBACK.matcher(text);
        if (!m.matches() || (m.group(4) == null) != (text.indexOf(' ') < 0)) {
            return null;
        }
        int month = Integer.parseInt(m.group(2));
        int day = Integer.parseInt(m.group(3));
        if (month < 1 || month > 12 || day < 1 || day > 31) {
            return null;
        }
        return LocalDate.of(Integer.parseInt(m.group(1)), month, 1)
                .plusDays(day - 1L)
                .atStartOfDay()
                .plusHours(numberOr(m.group(4), 0))
                .plusMinutes(numberOr(m.group(5), 0))
                .plusSeconds(numberOr(m.group(6), 0))
                .plusNanos(nanos(m.group(7)));
    }

    private static Integer day(int year, int month, int day) {
        try {
            return year > LAST_YEAR ? null : Math.toIntExact(LocalDate.of(year, month, day).toEpochDay());
        } catch (DateTimeException e) {
            return null;
        }
    }

    private static int numberOr(String digits, int otherwise) {
        return digits == null ? otherwise : Integer.parseInt(digits);
    }

    private static int nanos(String digits) {
        return digits == null ? 0 : Integer.parseInt((digits + "000000000").substring(0, 9));
    }

    private static Long microsOrNull(LocalDateTime time) {
        return time == null ? null : micros(time);
    }

    private static long micros(Instant instant) {
        return instant.getEpochSecond() * 1_000_000L + instant.getNano() / 1000;
    }

    private static long micros(LocalDateTime time) {
        return time.toEpochSecond(ZoneOffset.UTC) * 1_000_000L + time.getNano() / 1000;
    }

    private static LocalDateTime dateTime(long micros) {
        return LocalDateTime.ofEpochSecond(
                Math.floorDiv(micros, 1_000_000L), (int) Math.floorMod(micros, 1_000_000L) * 1000, ZoneOffset.UTC);
    }

    private static DateTimeFormatter formatter(UTF8String pattern) {
        return FORMATTERS.get().computeIfAbsent(pattern.toString(), p -> DateTimeFormatter.ofPattern(p, Locale.US));
    }

    private static SimpleDateFormat simple(UTF8String pattern, String zone) {
        SimpleDateFormat format =
                SIMPLE.get().computeIfAbsent(pattern.toString(), p -> new SimpleDateFormat(p, Locale.US));
        format.setTimeZone(TimeZone.getTimeZone(zone));
        return format;
    }
}

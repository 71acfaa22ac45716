package flinkplan.runtime.sink;

import static java.time.temporal.ChronoField.DAY_OF_MONTH;
import static java.time.temporal.ChronoField.HOUR_OF_DAY;
import static java.time.temporal.ChronoField.MINUTE_OF_HOUR;
import static java.time.temporal.ChronoField.MONTH_OF_YEAR;
import static java.time.temporal.ChronoField.NANO_OF_SECOND;
import static java.time.temporal.ChronoField.SECOND_OF_MINUTE;
import static java.time.temporal.ChronoField.YEAR;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.time.format.SignStyle;
import java.util.Locale;
import java.util.Map;

/**
 * The time of a partition, of the values in its path.
 *
 * <p>Source: Flink's {@code DefaultPartTimeExtractor}.
 *
 * @param pattern a text in which {@code $column} stands for a value; null: the first value
 * @param formatter the format of the text; null: a time as in SQL, or a date
 */
record PartitionTime(String pattern, DateTimeFormatter formatter) {
    private static final DateTimeFormatter DATE = new DateTimeFormatterBuilder()
            .appendValue(YEAR, 1, 10, SignStyle.NORMAL)
            .appendLiteral('-')
            .appendValue(MONTH_OF_YEAR, 1, 2, SignStyle.NORMAL)
            .appendLiteral('-')
            .appendValue(DAY_OF_MONTH, 1, 2, SignStyle.NORMAL)
            .toFormatter()
            .withResolverStyle(ResolverStyle.LENIENT);
    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .append(DATE)
            .appendLiteral(' ')
            .appendValue(HOUR_OF_DAY, 1, 2, SignStyle.NORMAL)
            .appendLiteral(':')
            .appendValue(MINUTE_OF_HOUR, 1, 2, SignStyle.NORMAL)
            .appendLiteral(':')
            .appendValue(SECOND_OF_MINUTE, 1, 2, SignStyle.NORMAL)
            .optionalStart()
            .appendFraction(NANO_OF_SECOND, 1, 9, true)
            .optionalEnd()
            .toFormatter()
            .withResolverStyle(ResolverStyle.LENIENT);

    /** Reads {@code {"pattern", "formatter"}}, each a text or null. */
    static PartitionTime of(JsonNode json) {
        String format = json.path("formatter").textValue();
        return new PartitionTime(
                json.path("pattern").textValue(),
                format == null ? null : DateTimeFormatter.ofPattern(format, Locale.ROOT));
    }

    /** @param partition its path below the table's folder, {@code key=value/key=value} */
    LocalDateTime of(String partition) {
        Map<String, String> values = PartitionPaths.values(partition);
        String text = pattern == null ? values.values().iterator().next() : pattern;
        if (pattern != null) {
            for (Map.Entry<String, String> value : values.entrySet()) {
                text = text.replace("$" + value.getKey(), value.getValue());
            }
        }
        try {
            return LocalDateTime.parse(text, formatter == null ? TIME : formatter);
        } catch (DateTimeParseException e) {
            return LocalDate.parse(text, formatter == null ? DATE : formatter).atStartOfDay();
        }
    }
}

package flinkplan.runtime.functions;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.unsafe.types.UTF8String;

/** Regular expressions, LIKE and SIMILAR TO. A malformed regular expression gives null. */
public final class Patterns {
    private static final Pattern NEVER = Pattern.compile("(?!)");
    private static final ThreadLocal<Map<String, Pattern>> REGEXES = ThreadLocal.withInitial(Recent::new);
    private static final ThreadLocal<Map<String, Like>> LIKES = ThreadLocal.withInitial(Recent::new);
    private static final ThreadLocal<Map<String, Pattern>> SIMILARS = ThreadLocal.withInitial(Recent::new);
    private static final ThreadLocal<Map<String, Pattern>> SEPARATORS = ThreadLocal.withInitial(Recent::new);

    /** Line breaks as well, which no single character of a pattern stands for. */
    private static final String ANYTHING = "(?s:.*)";

    private static final Pattern NAMED_CLASS = Pattern.compile("\\[:(\\w+):]");
    private static final Map<String, String> CLASSES =
            Map.of(
                    "ALPHA", "\\p{Alpha}",
                    "UPPER", "\\p{Upper}",
                    "LOWER", "\\p{Lower}",
                    "DIGIT", "\\d",
                    "ALNUM", "\\p{Alnum}",
                    "SPACE", " ",
                    "WHITESPACE", "\\s");

    private Patterns() {}

    /** Whether the pattern occurs; an empty or malformed one does not. */
    public static boolean find(UTF8String text, UTF8String regex) {
        Matcher m = matcher(text, regex);
        return m != null && regex.numBytes() > 0 && m.find();
    }

    public static Integer count(UTF8String text, UTF8String regex) {
        Matcher m = matcher(text, regex);
        return m == null ? null : Math.toIntExact(m.results().count());
    }

    /** The position of the first match; 0 for none. */
    public static Integer instr(UTF8String text, UTF8String regex) {
        Matcher m = matcher(text, regex);
        return m == null ? null : m.find() ? Integer.valueOf(m.start() + 1) : Integer.valueOf(0);
    }

    /** A group of the first match; null where nothing matches or there is no such group. */
    public static UTF8String extract(UTF8String text, UTF8String regex, int group) {
        Matcher m = matcher(text, regex);
        boolean isFound = m != null && group >= 0 && group <= m.groupCount() && m.find();
        return isFound ? UTF8String.fromString(m.group(group)) : null;
    }

    /** A group of every match; null where there is no such group. */
    public static ArrayData extractAll(UTF8String text, UTF8String regex, int group) {
        Matcher m = matcher(text, regex);
        if (m == null || group < 0 || group > m.groupCount()) {
            return null;
        }
        return new GenericArrayData(m.results().map(r -> UTF8String.fromString(r.group(group))).toArray());
    }

    /** Replaces every match; a group reference in the replacement has no meaning. */
    public static UTF8String replace(UTF8String text, UTF8String regex, UTF8String replacement) {
        Matcher m = matcher(text, regex);
        return m == null ? null : LoneSurrogates.encode(m.replaceAll(Matcher.quoteReplacement(LoneSurrogates.decode(replacement))));
    }

    /** Key-value pairs; both separators are regular expressions; a pair without value maps to null; the last wins. */
    public static MapData toMap(UTF8String text, UTF8String pairs, UTF8String values) {
        Map<UTF8String, UTF8String> entries = new LinkedHashMap<>();
        for (String pair : text.numBytes() == 0 ? new String[0] : split(text.toString(), pairs, 0)) {
            String[] parts = split(pair, values, 2);
            UTF8String key = UTF8String.fromString(parts.length < 2 ? pair : parts[0]);
            entries.remove(key);
            entries.put(key, parts.length < 2 ? null : UTF8String.fromString(parts[1]));
        }
        return new ArrayBasedMapData(
                new GenericArrayData(entries.keySet().toArray()), new GenericArrayData(entries.values().toArray()));
    }

    private static String[] split(String text, UTF8String regex, int limit) {
        Pattern pattern = SEPARATORS.get().computeIfAbsent(regex.toString(), Pattern::compile);
        return pattern.split(Bounded.of(pattern, text), limit);
    }

    public static boolean like(UTF8String text, UTF8String pattern) {
        return like(text, pattern, (char) 0);
    }

    public static boolean like(UTF8String text, UTF8String pattern, UTF8String escape) {
        return like(text, pattern, escapeCharacter(escape));
    }

    public static boolean similar(UTF8String text, UTF8String pattern) {
        return similar(text, pattern, (char) 0);
    }

    public static boolean similar(UTF8String text, UTF8String pattern, UTF8String escape) {
        return similar(text, pattern, escapeCharacter(escape));
    }

    private static boolean like(UTF8String text, UTF8String pattern, char escape) {
        String sql = pattern.toString();
        return LIKES.get().computeIfAbsent(escape + sql, key -> new Like(sql, escape)).matches(text.toString());
    }

    private static boolean similar(UTF8String text, UTF8String pattern, char escape) {
        String sql = pattern.toString();
        Pattern regex =
                SIMILARS.get().computeIfAbsent(escape + sql, key -> Pattern.compile(similarRegex(sql, escape)));
        return Bounded.matcher(regex, text.toString()).matches();
    }

    private static char escapeCharacter(UTF8String escape) {
        String s = escape.toString();
        if (s.length() != 1) {
            throw new IllegalArgumentException("the escape of a pattern is one character, not '" + s + "'");
        }
        return s.charAt(0);
    }

    private static Matcher matcher(UTF8String text, UTF8String regex) {
        Pattern pattern = REGEXES.get().computeIfAbsent(regex.toString(), Patterns::compile);
        return pattern == NEVER ? null : Bounded.matcher(pattern, LoneSurrogates.decode(text));
    }

    private static Pattern compile(String regex) {
        try {
            return Pattern.compile(regex);
        } catch (PatternSyntaxException e) {
            return NEVER;
        }
    }

    /** SIMILAR TO is a regular expression in which % and _ stand for texts, with classes such as [:ALPHA:]. */
    private static String similarRegex(String pattern, char escape) {
        StringBuilder regex = new StringBuilder();
        boolean inClass = false;
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            Matcher named = NAMED_CLASS.matcher(pattern).region(i, pattern.length());
            if (c == escape && escape != 0 && i + 1 < pattern.length()) {
                regex.append(Pattern.quote(String.valueOf(pattern.charAt(++i))));
            } else if (inClass && named.lookingAt()) {
                regex.append(CLASSES.getOrDefault(named.group(1).toUpperCase(Locale.ROOT), ""));
                i = named.end() - 1;
            } else if (inClass || c == '[') {
                inClass = c != ']';
                regex.append(c);
            } else {
                regex.append(c == '%' ? ANYTHING : c == '_' ? "." : String.valueOf(c));
            }
        }
        return regex.toString();
    }
}

package flinkplan.runtime.functions;

import flinkplan.runtime.Halves;
import java.util.ArrayList;
import java.util.List;
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
    private static final ThreadLocal<Map<String, Pattern>> LIKES = ThreadLocal.withInitial(Recent::new);
    private static final ThreadLocal<Map<String, Pattern>> SIMILARS = ThreadLocal.withInitial(Recent::new);

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
        return m == null ? null : Halves.encode(m.replaceAll(Matcher.quoteReplacement(Halves.decode(replacement))));
    }

    /** Key-value pairs; both separators are regular expressions; a pair without value maps to null; the last wins. */
    public static MapData toMap(UTF8String text, UTF8String pairs, UTF8String values) {
        List<UTF8String> keys = new ArrayList<>();
        List<UTF8String> found = new ArrayList<>();
        for (String pair : text.numBytes() == 0 ? new String[0] : text.toString().split(pairs.toString())) {
            String[] parts = pair.split(values.toString(), 2);
            UTF8String key = UTF8String.fromString(parts.length < 2 ? pair : parts[0]);
            int known = keys.indexOf(key);
            if (known >= 0) {
                keys.remove(known);
                found.remove(known);
            }
            keys.add(key);
            found.add(parts.length < 2 ? null : UTF8String.fromString(parts[1]));
        }
        return new ArrayBasedMapData(new GenericArrayData(keys.toArray()), new GenericArrayData(found.toArray()));
    }

    public static boolean like(UTF8String text, UTF8String pattern) {
        return matches(LIKES.get(), text, pattern, (char) 0, Patterns::likeRegex);
    }

    public static boolean like(UTF8String text, UTF8String pattern, UTF8String escape) {
        return matches(LIKES.get(), text, pattern, escapeCharacter(escape), Patterns::likeRegex);
    }

    public static boolean similar(UTF8String text, UTF8String pattern) {
        return matches(SIMILARS.get(), text, pattern, (char) 0, Patterns::similarRegex);
    }

    public static boolean similar(UTF8String text, UTF8String pattern, UTF8String escape) {
        return matches(SIMILARS.get(), text, pattern, escapeCharacter(escape), Patterns::similarRegex);
    }

    private interface ToRegex {
        String apply(String pattern, char escape);
    }

    private static boolean matches(
            Map<String, Pattern> cache, UTF8String text, UTF8String pattern, char escape, ToRegex regex) {
        String sql = pattern.toString();
        return cache
                .computeIfAbsent(escape + sql, key -> Pattern.compile(regex.apply(sql, escape)))
                .matcher(text.toString())
                .matches();
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
        return pattern == NEVER ? null : pattern.matcher(Halves.decode(text));
    }

    private static Pattern compile(String regex) {
        try {
            return Pattern.compile(regex);
        } catch (PatternSyntaxException e) {
            return NEVER;
        }
    }

    private static String likeRegex(String pattern, char escape) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            int c = pattern.codePointAt(i);
            if (c == escape && escape != 0) {
                regex.append(Pattern.quote(escaped(pattern, ++i, escape)));
            } else {
                regex.append(c == '%' ? ANYTHING : c == '_' ? "." : Pattern.quote(Character.toString(c)));
                i += Character.charCount(c) - 1;
            }
        }
        return regex.toString();
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

    private static String escaped(String pattern, int at, char escape) {
        if (at >= pattern.length() || "%_".indexOf(pattern.charAt(at)) < 0 && pattern.charAt(at) != escape) {
            throw new IllegalArgumentException("in the pattern '" + pattern + "' an escape precedes no %, _ or escape");
        }
        return String.valueOf(pattern.charAt(at));
    }
}

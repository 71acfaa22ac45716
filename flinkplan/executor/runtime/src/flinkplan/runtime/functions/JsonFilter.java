package flinkplan.runtime.functions;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.NoSuchElementException;
import java.util.regex.Pattern;

/**
 * The condition of a filter in a JSON path: {@code @.a > 1 && (@.b == 'x' || !@.c)}.
 *
 * <p>Compares with {@code == != < <= > >=}, matches with {@code =~ /regex/i}; a path alone asks whether it finds
 * something. What is not there equals nothing, and numbers equal the texts that spell them.
 */
final class JsonFilter {
    /** Says of a value whether it passes. */
    interface Condition {
        boolean holds(Object value);
    }

    /** What a side of a comparison is for a value: a value of JSON, or {@link #MISSING}. */
    private interface Operand {
        Object of(Object value);
    }

    private static final Object MISSING = new Object();
    private static final String[] OPERATORS = {"==", "!=", "<=", ">=", "<", ">", "=~"};

    private final String text;
    private int at;

    private JsonFilter(String text) {
        this.text = text;
    }

    /** Parses a condition. Fails with IllegalArgumentException where it is none that is understood. */
    static Condition of(String text) {
        JsonFilter filter = new JsonFilter(text);
        Condition condition = filter.disjunction();
        filter.skipBlanks();
        if (filter.at < text.length()) {
            throw filter.malformed();
        }
        return condition;
    }

    private Condition disjunction() {
        Condition left = conjunction();
        while (accept("||")) {
            Condition before = left;
            Condition right = conjunction();
            left = value -> before.holds(value) || right.holds(value);
        }
        return left;
    }

    private Condition conjunction() {
        Condition left = negation();
        while (accept("&&")) {
            Condition before = left;
            Condition right = negation();
            left = value -> before.holds(value) && right.holds(value);
        }
        return left;
    }

    private Condition negation() {
        if (accept("!")) {
            Condition inner = negation();
            return value -> !inner.holds(value);
        }
        if (accept("(")) {
            Condition inner = disjunction();
            if (!accept(")")) {
                throw malformed();
            }
            return inner;
        }
        return comparison();
    }

    private Condition comparison() {
        Operand left = operand();
        for (String operator : OPERATORS) {
            if (accept(operator)) {
                return operator.equals("=~") ? matching(left, regex()) : comparing(left, operator, operand());
            }
        }
        return value -> left.of(value) != MISSING;
    }

    private static Condition matching(Operand operand, Pattern pattern) {
        return value -> operand.of(value) instanceof String found && Bounded.matcher(pattern, found).matches();
    }

    private static Condition comparing(Operand left, String operator, Operand right) {
        return value -> {
            Object a = left.of(value);
            Object b = right.of(value);
            return switch (operator) {
                case "==" -> equal(a, b);
                case "!=" -> !equal(a, b);
                case "<" -> order(a, b) != null && order(a, b) < 0;
                case "<=" -> order(a, b) != null && order(a, b) <= 0;
                case ">" -> order(a, b) != null && order(a, b) > 0;
                default -> order(a, b) != null && order(a, b) >= 0;
            };
        };
    }

    private static boolean equal(Object a, Object b) {
        if (a == MISSING || b == MISSING) {
            return false;
        }
        BigDecimal x = number(a);
        BigDecimal y = number(b);
        boolean isText = a instanceof String && b instanceof String;
        return x != null && y != null && !isText ? x.compareTo(y) == 0 : a == null ? b == null : a.equals(b);
    }

    /** Null for what has no order. */
    private static Integer order(Object a, Object b) {
        if (a instanceof Number && b instanceof Number) {
            return number(a).compareTo(number(b));
        }
        return a instanceof String x && b instanceof String y ? Integer.valueOf(x.compareTo(y)) : null;
    }

    private static BigDecimal number(Object value) {
        try {
            return value instanceof Number || value instanceof String ? new BigDecimal(value.toString()) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private Operand operand() {
        skipBlanks();
        char c = at < text.length() ? text.charAt(at) : '\0';
        if (c == '@') {
            JsonPath path = JsonPath.of("$" + taken(end(at + 1)).substring(1));
            return value -> read(path, value);
        }
        if (c == '\'' || c == '"') {
            int close = text.indexOf(c, at + 1);
            if (close < 0) {
                throw malformed();
            }
            String quoted = taken(close + 1);
            String constant = quoted.substring(1, quoted.length() - 1);
            return value -> constant;
        }
        String word = taken(end(at));
        Object constant = constant(word);
        return value -> constant;
    }

    private Object constant(String word) {
        BigDecimal number = number(word);
        if (number != null) {
            return number;
        }
        return switch (word) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            case "null" -> null;
            default -> throw malformed();
        };
    }

    /** Nothing found by a path is missing; so is an empty list of an indefinite one. */
    private static Object read(JsonPath path, Object value) {
        try {
            Object found = value == null ? MISSING : path.read(value);
            return found instanceof Collection<?> list && list.isEmpty() ? MISSING : found;
        } catch (NoSuchElementException e) {
            return MISSING;
        }
    }

    private Pattern regex() {
        skipBlanks();
        int close = text.indexOf('/', at + 1);
        if (!text.startsWith("/", at) || close < 0) {
            throw malformed();
        }
        String quoted = taken(close + 1);
        int flags = accept("i") ? Pattern.CASE_INSENSITIVE : 0;
        return Pattern.compile(quoted.substring(1, quoted.length() - 1), flags);
    }

    /** Where the path or word that begins before ends: at a blank, an operator or a parenthesis outside brackets. */
    private int end(int from) {
        int depth = 0;
        int i = from;
        while (i < text.length() && (depth > 0 || " =!<>&|)".indexOf(text.charAt(i)) < 0)) {
            depth += text.charAt(i) == '[' ? 1 : text.charAt(i) == ']' ? -1 : 0;
            i++;
        }
        return i;
    }

    private String taken(int end) {
        String taken = text.substring(at, end);
        at = end;
        return taken;
    }

    private boolean accept(String token) {
        skipBlanks();
        boolean isNext = text.startsWith(token, at);
        at += isNext ? token.length() : 0;
        return isNext;
    }

    private void skipBlanks() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException(
                "the filter '" + text + "' of a JSON path is malformed at character " + (at + 1));
    }
}

package flinkplan.runtime.functions;

import java.util.Arrays;

/**
 * A pattern of LIKE. A % stands for anything, a _ for one character that ends no line.
 *
 * <p>A text is read once, but for what follows a %: that is looked for from left to right, and what was found first is
 * never given up, since a later % may cover whatever an earlier one could. So no pattern takes more steps than the
 * product of both lengths.
 */
final class Like {
    private static final int ANY = -1;
    private static final int ONE = -2;

    private final int[] tokens;

    Like(String pattern, char escape) {
        int[] parsed = new int[pattern.length()];
        int count = 0;
        for (int i = 0; i < pattern.length(); ) {
            int c = pattern.codePointAt(i);
            i += Character.charCount(c);
            if (c == escape && escape != 0) {
                c = escaped(pattern, i, escape);
                i += Character.charCount(c);
            } else {
                c = c == '%' ? ANY : c == '_' ? ONE : c;
            }
            parsed[count++] = c;
        }
        tokens = Arrays.copyOf(parsed, count);
    }

    private static char escaped(String pattern, int at, char escape) {
        if (at >= pattern.length() || "%_".indexOf(pattern.charAt(at)) < 0 && pattern.charAt(at) != escape) {
            throw new IllegalArgumentException("in the pattern '" + pattern + "' an escape precedes no %, _ or escape");
        }
        return pattern.charAt(at);
    }

    boolean matches(String text) {
        int at = 0;
        int token = 0;
        int anything = -1;
        int resumed = 0;
        while (at < text.length()) {
            int c = text.codePointAt(at);
            if (token < tokens.length && tokens[token] == ANY) {
                anything = token++;
                resumed = at;
            } else if (token < tokens.length && covers(tokens[token], c)) {
                at += Character.charCount(c);
                token++;
            } else if (anything >= 0) {
                resumed += Character.charCount(text.codePointAt(resumed));
                at = resumed;
                token = anything + 1;
            } else {
                return false;
            }
        }
        while (token < tokens.length && tokens[token] == ANY) {
            token++;
        }
        return token == tokens.length;
    }

    private static boolean covers(int token, int c) {
        return token == c || token == ONE && !endsLine(c);
    }

    private static boolean endsLine(int c) {
        return c == '\n' || c == '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029';
    }
}

package flinkplan.runtime.functions;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text that a regular expression may look at a limited number of times.
 *
 * <p>Java tries alternatives one after the other, in some patterns exponentially many, such as {@code (a+)+b}: without
 * a limit one value stops a job for ever.
 */
final class Bounded implements CharSequence {
    private static final long LOOKS = 100_000_000;
    private static final int SHOWN = 60;

    private final String text;
    private final Pattern pattern;
    private long left = LOOKS;

    private Bounded(String text, Pattern pattern) {
        this.text = text;
        this.pattern = pattern;
    }

    /** A matcher that fails with a message where it would take too long. */
    static Matcher matcher(Pattern pattern, String text) {
        return pattern.matcher(of(pattern, text));
    }

    static CharSequence of(Pattern pattern, String text) {
        return new Bounded(text, pattern);
    }

    @Override
    public char charAt(int index) {
        if (--left < 0) {
            throw new IllegalArgumentException(
                    "the regular expression '" + cut(pattern.pattern()) + "' takes more than " + LOOKS
                            + " steps on the value '" + cut(text) + "' of " + text.length()
                            + " characters; write it without repetitions inside repetitions");
        }
        return text.charAt(index);
    }

    private static String cut(String shown) {
        return shown.length() <= SHOWN ? shown : shown.substring(0, SHOWN) + "…";
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.substring(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}

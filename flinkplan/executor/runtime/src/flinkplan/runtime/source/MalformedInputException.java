package flinkplan.runtime.source;

import java.io.IOException;

/**
 * A message, or a line of a file, that cannot be read. The message is the place, then, on lines of its own, what
 * is wrong, which is cut where it is long: whole lines stand in the messages of parsers.
 */
public final class MalformedInputException extends IOException {
    private static final int LONGEST = 1000;

    public MalformedInputException(String place, Throwable cause) {
        super(place + "\n" + told(cause));
        setStackTrace(cause.getStackTrace());
    }

    /** The messages of a chain of causes, but for what a later one says again. */
    private static String told(Throwable error) {
        String own = error.getMessage() == null ? error.getClass().getSimpleName() : cut(error.getMessage());
        if (error.getCause() == null) {
            return own;
        }
        String inner = told(error.getCause());
        return own.endsWith(inner) ? inner : own + ": " + inner;
    }

    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
}
